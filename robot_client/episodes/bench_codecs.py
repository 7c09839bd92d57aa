"""`python -m robot_client.episodes.bench_codecs`: JPEG beside H.264, recorded and read.

Three made-up 640x480 cameras at 30 Hz (noise on moving shapes: harder to compress than a quiet table) and 200 Hz ticks
go through the recorder's own code, as fast as it takes them; the processor time of the whole process, the disk thread
included, is set against the time that was recorded. Nothing is measured of transport between processes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import CHANNELS
from contract.station import load_station
from robot_client.clock import NS_PER_S, FakeClock
from robot_client.episodes.bag import Bag
from robot_client.episodes.cameras import CameraWatch, Codec
from robot_client.episodes.formats.bag_source import BagSource
from robot_client.episodes.formats.entries import Picture
from robot_client.episodes.ros_time import RosTime
from robot_client.episodes.scribe import Scribe
from robot_client.rigs.base import Frame
from robot_client.ticks import TickRecord, batch_of

_TICK_HZ: Final = 200
_FRAME_HZ: Final = 30
_BATCH: Final = 20
_CODECS: Final[tuple[Codec, ...]] = ("jpeg", "h264")
_PATIENCE_S: Final = 60.0


class _Cameras:
    """Frames made beforehand, so that making them costs nothing while it is measured."""

    def __init__(self, clock: FakeClock, roles: list[str]) -> None:
        self._clock, self._roles = clock, roles
        self._images = [_scene(i) for i in range(_FRAME_HZ)]

    def frames(self) -> Mapping[str, Frame]:
        """The newest frame of each role."""
        number = self._clock.now_ns() * _FRAME_HZ // NS_PER_S
        image = self._images[number % len(self._images)]
        return {role: Frame(role, image, number * NS_PER_S // _FRAME_HZ) for role in self._roles}


def _scene(number: int) -> NDArray[np.uint8]:
    random = np.random.default_rng(number)
    rows, columns = np.mgrid[0:480, 0:640]
    smooth = 128 + 60 * np.sin(rows / 40 + number / 5) + 50 * np.cos(columns / 60)
    image = np.repeat(smooth[..., None], 3, axis=2) + random.normal(0.0, 3.0, (480, 640, 3))
    left = 20 * number % 500
    image[200:300, left : left + 100] = (200, 60, 40)
    return np.clip(image, 0, 255).astype(np.uint8)


def _tick(number: int, clock_ns: int) -> TickRecord:
    told = 0.3 * np.sin(number / 50.0 + np.arange(len(CHANNELS)))
    return TickRecord(
        clock_ns, clock_ns, 0, 0, "POLICY", "policy", 1, told, told, told - 0.01, clock_ns, 0, 0.0, "s/1/0", None
    )


def record(directory: Path, codec: Codec, seconds: float) -> dict[str, float]:
    """Processor seconds per recorded second, and MB per minute."""
    clock = FakeClock(NS_PER_S)
    cameras = [camera.model_copy(update={"rate_hz": float(_FRAME_HZ)}) for camera in load_station("twin").cameras]
    source, bag, ros = _Cameras(clock, [camera.role for camera in cameras]), Bag(directory, clock), RosTime(NS_PER_S)
    watch, scribe = CameraWatch(source, cameras, ros, bag.add, clock.now_ns(), codec), Scribe(ros, bag.add)
    bag.open({"episode": {"format": "1", "instruction": "bench"}})
    begun_s, ticks = time.process_time(), int(seconds * _TICK_HZ)
    for start in range(0, ticks, _BATCH):
        for _ in range(_BATCH):
            watch.look(clock.now_ns())
            clock.advance(NS_PER_S // _TICK_HZ)
        scribe.ticks(batch_of([_tick(n, clock.now_ns()) for n in range(start, start + _BATCH)], start))
        bag.tend()
        _wait_for_disk(bag)
    complete = bag.close({})
    spent_s = time.process_time() - begun_s
    size = sum(file.stat().st_size for file in bag.folder.iterdir())
    return {"core": spent_s / seconds, "mb_per_minute": size / 1e6 * 60.0 / seconds, "complete": float(complete)}


def _wait_for_disk(bag: Bag) -> None:
    """Faster than real time there would be a backlog that no recording has."""
    until_s = time.monotonic() + _PATIENCE_S
    while bag.backlog_bytes > 8_000_000 and time.monotonic() < until_s:
        time.sleep(0.002)


def read(folder: Path, seconds: float, pictures: bool) -> float:
    """How many times faster than it was recorded, in processor time."""
    begun_s = time.process_time()
    for entry in BagSource(folder).entries(None if pictures else ()):
        if isinstance(entry, Picture):
            entry.rgb()
    return seconds / (time.process_time() - begun_s)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m robot_client.episodes.bench_codecs", description="JPEG beside H.264, recorded and read"
    )
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--json", type=Path, default=Path("out/bench/codecs.json"))
    arguments = parser.parse_args()
    found: dict[str, Any] = {"seconds": arguments.seconds}
    for codec in _CODECS:
        with tempfile.TemporaryDirectory() as directory:
            written = record(Path(directory), codec, arguments.seconds)
            folder = Path(directory) / "episode_000000"
            written["read_times_real_time"] = read(folder, arguments.seconds, pictures=False)
            written["read_with_pictures_times_real_time"] = read(folder, arguments.seconds, pictures=True)
            found[codec] = written
            print(codec, ", ".join(f"{name} {value:.3g}" for name, value in written.items()), flush=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
