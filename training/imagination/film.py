"""Imagined beside executed as a small mp4, failures marked."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from training.imagination.filmed_trial import Footage

RATE_HZ: Final = 10
_SCALE, _STRIP_PX, _HOLD = 2, 16, 12
_INK, _RED, _GREEN, _PAPER = (235, 235, 235), (220, 60, 50), (70, 170, 90), 24


def write_film(path: Path, footage: Footage, ahead: int) -> None:
    """Four panels: seen now; what was imagined for `ahead` rows after the last replan; what came then; and the long
    imagination from the first picture alone, a chunk of `ahead` rows each."""
    pages = [_page(footage, row, ahead) for row in range(len(footage.seen))]
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE_HZ)
        stream.height, stream.width, stream.pix_fmt = *pages[0].shape[:2], "yuv420p"
        stream.options = {"crf": "31", "preset": "slow", "g": "200"}
        for page in [*pages, *[pages[-1]] * _HOLD]:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(page, format="rgb24")))
        container.mux(stream.encode(None))


def _page(footage: Footage, row: int, ahead: int) -> NDArray[np.uint8]:
    last = max(at for at in footage.imagined if at <= row)
    seen, long = footage.seen, footage.long
    came = seen[min(last + ahead, len(seen) - 1)]
    chunk = 0 if long is None else min(round(row / ahead), len(long) - 1)
    panels = (
        ("now", seen[row]),
        (f"imagined at {last / RATE_HZ:.1f} s, {ahead / RATE_HZ:.1f} s ahead", footage.imagined[last]),
        ("what came then", came),
        (f"imagined at 0 s alone, chunk {chunk}", seen[0] if long is None else long[chunk]),
    )
    boxes = [_panel(title, picture) for title, picture in panels]
    body = np.vstack([np.hstack(boxes[:2]), np.hstack(boxes[2:])])
    return _framed(body, footage, ended=row == len(seen) - 1)


def _panel(title: str, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    large = cv2.resize(picture, None, fx=_SCALE, fy=_SCALE, interpolation=cv2.INTER_NEAREST)
    return np.vstack([_strip(title, large.shape[1], _INK), large])


def _framed(body: NDArray[np.uint8], footage: Footage, ended: bool) -> NDArray[np.uint8]:
    """The sentence above; at the end how it went, in red all round when it failed."""
    outcome, task = footage.outcome, footage.trial.task
    won = outcome is not None and outcome.success
    said = f"{task.instruction}, {footage.trial.seed}"
    page = np.vstack([_strip(said, body.shape[1], _INK), body])
    if ended:
        page[:_STRIP_PX] = _strip(f"{'done' if won else 'FAILED'}: {said}", body.shape[1], _GREEN if won else _RED)
    if ended and not won:
        for edge in (page[:3], page[-3:], page[:, :3], page[:, -3:]):
            edge[...] = _RED
    height, width = (side - side % 2 for side in page.shape[:2])
    return np.ascontiguousarray(page[:height, :width])


def _strip(text: str, width: int, colour: tuple[int, int, int]) -> NDArray[np.uint8]:
    strip = np.full((_STRIP_PX, width, 3), _PAPER, np.uint8)
    cv2.putText(strip, text, (4, _STRIP_PX - 5), cv2.FONT_HERSHEY_SIMPLEX, 0.33, colour, 1, cv2.LINE_AA)
    return strip
