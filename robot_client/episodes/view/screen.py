"""What is drawn, in Rerun's terms. The only file that imports rerun, and only when a screen is opened."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError
from contract.layout import CHANNELS
from robot_client.episodes.formats.entries import Kind

TIMELINE: Final = "time"
_BATCH: Final = 200
"""Joint vectors sent at a time: one by one would be a hundred times slower."""
_COLOURS: Final[dict[Kind, tuple[int, int, int]]] = {
    "asked": (240, 162, 2),
    "told": (51, 102, 170),
    "measured": (46, 139, 87),
}
_NUMBERS: Final = {
    "policy/temporal_ratio": "Temporal Ratio",
    "policy/scale/lang": "w_lang",
    "policy/scale/plan": "w_plan",
    "policy/branches": "branches run",
    "policy/answer_ms": "asked to answered [ms]",
}


class Screen:
    """`open`, draw, `close`. Stamps are ROS time [ns]."""

    def __init__(self, name: str, file: Path | None) -> None:
        """file: written instead of opening a window."""
        self._name, self._file = name, file
        self._rr: Any = None
        self._stream: Any = None
        self._joints: dict[Kind, list[tuple[int, NDArray]]] = {}
        self._videos: set[str] = set()

    def open(self) -> None:
        """Raises `ConfigurationError` when rerun is not installed, or there is neither a display nor a file."""
        self._rr = rerun()
        self._stream = self._rr.RecordingStream("yam-robot episode", recording_id=None)
        if self._file is None:
            if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
                raise ConfigurationError(
                    "view", expected="a display", got="none", remedy="--save FILE.rrd, and open it where there is one"
                )
            self._stream.spawn(connect=True)
        else:
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                self._file.write_bytes(b"")
            except OSError as error:
                raise ConfigurationError(f"{self._file}", expected="a file to write", got=error.strerror) from error
            self._stream.save(str(self._file))
        self._stream.send_recording_name(self._name)
        self._describe()

    def joints(self, stamp_ns: int, kind: Kind, values: NDArray[np.float64]) -> None:
        """(14,) in the contract's layout."""
        waiting = self._joints.setdefault(kind, [])
        waiting.append((stamp_ns, values))
        if len(waiting) >= _BATCH:
            self._send(kind)

    def image(self, stamp_ns: int, entity: str, data: bytes, form: str) -> None:
        """A JPEG or PNG file, or (form h264, h265) an access unit of a video."""
        if form in ("h264", "h265"):
            self._unit(stamp_ns, entity, data, form)
        else:
            media = "image/png" if form == "png" else "image/jpeg"
            self._log(stamp_ns, entity, self._rr.EncodedImage(contents=data, media_type=media))

    def number(self, stamp_ns: int, entity: str, value: float) -> None:
        """One point of a curve."""
        self._log(stamp_ns, entity, self._rr.Scalars(float(value)))

    def text(self, stamp_ns: int, entity: str, text: str, warns: bool = False) -> None:
        """One line of a log."""
        self._log(stamp_ns, entity, self._rr.TextLog(text, level="WARN" if warns else "INFO"))

    def flush(self) -> None:
        """Everything drawn so far is to be seen."""
        for kind in list(self._joints):
            self._send(kind)
        self._stream.flush()

    def close(self) -> None:
        """The file is whole; a window stays."""
        if self._stream is not None:
            self.flush()
            self._stream.disconnect()
            self._stream = None

    def _log(self, stamp_ns: int, entity: str, what: Any) -> None:
        self._stream.set_time(TIMELINE, timestamp=np.datetime64(stamp_ns, "ns"))
        self._stream.log(entity, what)

    def _unit(self, stamp_ns: int, entity: str, data: bytes, form: str) -> None:
        codec = self._rr.VideoCodec.H264 if form == "h264" else self._rr.VideoCodec.H265
        if entity not in self._videos:
            self._videos.add(entity)
            self._stream.log(entity, self._rr.VideoStream(codec=codec), static=True)
        self._log(stamp_ns, entity, self._rr.VideoStream.from_fields(sample=data))

    def _send(self, kind: Kind) -> None:
        waiting = self._joints.get(kind)
        if not waiting:
            return
        self._joints[kind] = []
        stamps = np.array([stamp_ns for stamp_ns, _ in waiting]).astype("datetime64[ns]")
        values = np.array([vector for _, vector in waiting])
        times = self._rr.TimeColumn(TIMELINE, timestamp=stamps)
        for channel, name in enumerate(CHANNELS):
            columns = self._rr.Scalars.columns(scalars=values[:, channel])
            self._stream.send_columns(f"joints/{name}/{kind}", [times], columns)

    def _describe(self) -> None:
        for name in CHANNELS:
            for kind, colour in _COLOURS.items():
                style = self._rr.SeriesLines(colors=[colour], names=[kind])
                self._stream.log(f"joints/{name}/{kind}", style, static=True)
        for entity, title in _NUMBERS.items():
            self._stream.log(entity, self._rr.SeriesLines(names=[title]), static=True)
        self._stream.send_blueprint(_blueprint())


def rerun() -> ModuleType:
    """The library. Raises `ConfigurationError` when it is not installed."""
    try:
        import rerun as library
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "view", expected="rerun-sdk", got="not installed", remedy='pip install "yam-video-action[view]"'
        ) from error
    return library


def _blueprint() -> Any:
    """Pictures on the left, curves on the right, words below."""
    import rerun.blueprint as rrb

    pictures = rrb.Grid(
        rrb.Spatial2DView(origin="cameras/top", name="top"),
        rrb.Spatial2DView(origin="policy/imagined", name="imagined"),
        rrb.Spatial2DView(origin="cameras/left_wrist", name="left wrist"),
        rrb.Spatial2DView(origin="cameras/right_wrist", name="right wrist"),
    )
    arms: Sequence[Any] = [
        rrb.Grid(*[rrb.TimeSeriesView(origin=f"joints/{name}", name=name) for name in CHANNELS if name.startswith(arm)])
        for arm in ("left", "right")
    ]
    curves = rrb.Vertical(
        rrb.TimeSeriesView(origin="policy/temporal_ratio", name="Temporal Ratio"),
        rrb.TimeSeriesView(origin="policy/scale", name="guidance scales"),
        rrb.Tabs(*arms),
        row_shares=[1, 1, 3],
    )
    words = rrb.TextLogView(origin="words", name="modes, instruction, refusals")
    return rrb.Blueprint(rrb.Vertical(rrb.Horizontal(pictures, curves), words, row_shares=[5, 1]))
