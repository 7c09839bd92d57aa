"""The questions of an acceptance test: twenty ordinary ones, and the extremes at which half precision breaks first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import JOINT_MASK
from contract.manifest import BundleManifest
from contract.types import Observation
from policy_server.warm_up import neutral_observation

ORDINARY: Final = 20
_FAR: Final = 4.0
"""Joints at limits: this many deviations from the mean of the training data, which is past any limit of an arm."""
_PATCHES: Final = 8

Picture = Callable[[int, int], NDArray[np.uint8]]
"""(height, width) -> (height, width, 3)."""


@dataclass(frozen=True, slots=True)
class Question:
    """An observation and what it is, for the message that names it."""

    name: str
    observation: Observation


def questions(manifest: BundleManifest, seed: int = 0) -> tuple[Question, ...]:
    """Ordinary and extreme observations, the same for the same seed."""
    generator = np.random.Generator(np.random.Philox(seed))
    ordinary = [Question(f"ordinary {i}", _ordinary(manifest, generator, i)) for i in range(ORDINARY)]
    return (*ordinary, *_extremes(manifest, generator))


def _ordinary(manifest: BundleManifest, generator: np.random.Generator, number: int) -> Observation:
    """Patches of colour, a state drawn as the training data's, every known word in turn, a prefix now and then."""
    words = manifest.text.vocabulary
    offset, scale = np.array(manifest.state.offset), np.array(manifest.state.scale)
    joints = _state(offset + scale * generator.standard_normal(len(offset)))
    length = int(generator.integers(0, manifest.head.max_prefix + 1))
    return replace(
        _seeing(manifest, lambda height, width: _patches(generator, height, width)),
        seed=number,
        joints=joints,
        instruction=words[number % len(words)] if words else "",
        prefix=np.repeat(joints[np.newaxis], length, axis=0),
    )


def _extremes(manifest: BundleManifest, generator: np.random.Generator) -> Iterator[Question]:
    offset, scale = np.array(manifest.state.offset), np.array(manifest.state.scale)
    yield Question("white", _seeing(manifest, lambda h, w: np.full((h, w, 3), 255, np.uint8)))
    yield Question("black", _seeing(manifest, lambda h, w: np.zeros((h, w, 3), np.uint8)))
    noise = _seeing(manifest, lambda h, w: generator.integers(0, 256, (h, w, 3), dtype=np.uint8))
    yield Question("noise", noise)
    for name, side in (("joints at lower limits", -_FAR), ("joints at upper limits", _FAR)):
        yield Question(name, replace(noise, joints=_state(offset + side * scale)))


def _seeing(manifest: BundleManifest, picture: Picture) -> Observation:
    images = {v.role: picture(v.height, v.width) for v in manifest.canvas.views}
    return replace(neutral_observation(manifest), images=images)


def _patches(generator: np.random.Generator, height: int, width: int) -> NDArray[np.uint8]:
    """A coarse random picture enlarged: edges and flat areas, as a table with things on it has."""
    coarse = generator.integers(0, 256, (_PATCHES, _PATCHES, 3), dtype=np.uint8)
    rows = np.arange(height) * _PATCHES // height
    columns = np.arange(width) * _PATCHES // width
    return np.ascontiguousarray(coarse[rows][:, columns])


def _state(values: NDArray) -> NDArray[np.float32]:
    """Joints as they are, grippers within their range."""
    return np.where(JOINT_MASK, values, np.clip(values, 0.0, 1.0)).astype(np.float32)
