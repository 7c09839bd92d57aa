"""An episode as an mp4: what the cameras saw, beside what the policy had imagined for that moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from robot_client.clock import NS_PER_S
from robot_client.demo.filming import RATE_HZ, Filming
from robot_client.episodes.formats.base import EpisodeSource
from robot_client.episodes.formats.entries import Driver, Instruction, Picture
from robot_client.episodes.imagined import ImaginedReel
from robot_client.newest import Newest, Unfit

HEIGHT_PX: Final = 360
"""Of the first camera; the others lie beside each other below it, half as high."""
WIDTH_PX: Final = 480
IMAGINED_PX: Final = 480
"""As wide as what was seen, so that the two can be compared."""
_MAX_AGE_NS: Final = 2 * NS_PER_S
"""An older picture is not shown as the present."""


def film_episode(source: EpisodeSource, imagined: ImaginedReel, path: Path, say: Callable[[str], None]) -> bool:
    """Whether there is a film; none without cameras. One picture in memory at a time."""
    filming, filmed = Filming(path, say, IMAGINED_PX), False
    for overview, stamp_ns, caption in _overviews(source):
        filming.add(overview, imagined.at(stamp_ns), caption)
        filmed = True
    filming.close()
    return filmed and path.is_file()


def _overviews(source: EpisodeSource) -> Iterator[tuple[NDArray[np.uint8], int, str]]:
    """Ten times a second of the episode: all cameras in one picture, its time, a line about it."""
    roles = sorted(source.cameras(), key=lambda role: (role != "top", role))
    newest: Newest[Picture] = Newest()
    driver, instruction, start_ns, count = Driver(0, "", ""), "", 0, 0
    for entry in source.entries(roles) if roles else ():
        start_ns = start_ns or entry.stamp_ns
        while start_ns + count * NS_PER_S // RATE_HZ < entry.stamp_ns:
            now_ns = start_ns + count * NS_PER_S // RATE_HZ
            found = newest.at(roles, now_ns, _MAX_AGE_NS)
            if not isinstance(found, Unfit):
                images = {role: stamped.value.rgb() for role, stamped in found.items()}
                yield composed(images), now_ns, f"{instruction}  |  {count / RATE_HZ:.1f} s  {driver.mode}"
            count += 1
        if isinstance(entry, Picture):
            newest.take(entry.role, entry.stamp_ns, entry)
        elif isinstance(entry, Driver):
            driver = entry
        elif isinstance(entry, Instruction):
            instruction = entry.text


def composed(images: Mapping[str, NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """The first image large, the others in a row below it; (540, 480, 3), with black where there is none."""
    page = np.zeros((HEIGHT_PX + HEIGHT_PX // 2, WIDTH_PX, 3), np.uint8)
    first, *others = images.values()
    page[:HEIGHT_PX] = _boxed(first, HEIGHT_PX, WIDTH_PX)
    for i, image in enumerate(others[:2]):
        left = i * WIDTH_PX // 2
        page[HEIGHT_PX:, left : left + WIDTH_PX // 2] = _boxed(image, HEIGHT_PX // 2, WIDTH_PX // 2)
    return page


def _boxed(image: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """Scaled into a box, with black bars."""
    scale = min(height / image.shape[0], width / image.shape[1])
    size = max(1, round(image.shape[0] * scale)), max(1, round(image.shape[1] * scale))
    box = np.zeros((height, width, 3), np.uint8)
    top, left = (height - size[0]) // 2, (width - size[1]) // 2
    method = cv2.INTER_AREA if scale < 1.0 else cv2.INTER_LINEAR
    box[top : top + size[0], left : left + size[1]] = cv2.resize(image, size[::-1], interpolation=method)
    return box
