"""Mutants: messages of every kind, broken in the ways that bytes and headers break."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgpack

from contract.codec import encode
from tests.contract.messages_of_all_kinds import one_of_each

Frames = list[bytes]

ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**63,
    2**64 - 1,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "\x00",
    "x" * 10_000,
    b"\xff" * 100,
    [],
    {},
    [[[[[[[[]]]]]]]],
    {"": {"": {}}},
    [2**60, 2**60],
    "|O",
    "<f4" * 1000,
)
"""What a field may hold that it should not."""


def corpus(request_id: int) -> list[Frames]:
    """One good message of every kind, as bytes."""
    return [[bytes(frame) for frame in encode(message, request_id)] for message in one_of_each()]


def mutant(rng: random.Random, request_id: int) -> Frames:
    """A message with one to three things wrong. Some mutants are still good messages."""
    frames = list(rng.choice(corpus(request_id))) if rng.random() < 0.97 else _noise(rng)
    for _ in range(rng.randrange(1, 4)):
        frames = rng.choice(_MUTATIONS)(rng, frames)
    return frames


def _noise(rng: random.Random) -> Frames:
    return [rng.randbytes(rng.randrange(200)) for _ in range(rng.randrange(1, 5))]


def _flip(rng: random.Random, frames: Frames) -> Frames:
    i = rng.randrange(len(frames)) if frames else -1
    if i < 0 or not frames[i]:
        return frames
    data = bytearray(frames[i])
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return [*frames[:i], bytes(data), *frames[i + 1 :]]


def _cut(rng: random.Random, frames: Frames) -> Frames:
    i = rng.randrange(len(frames)) if frames else -1
    return frames if i < 0 else [*frames[:i], frames[i][: rng.randrange(len(frames[i]) + 1)], *frames[i + 1 :]]


def _grow(rng: random.Random, frames: Frames) -> Frames:
    i = rng.randrange(len(frames)) if frames else -1
    return frames if i < 0 else [*frames[:i], frames[i] + rng.randbytes(rng.randrange(64)), *frames[i + 1 :]]


def _drop(rng: random.Random, frames: Frames) -> Frames:
    i = rng.randrange(len(frames)) if len(frames) > 1 else -1
    return frames if i < 0 else [*frames[:i], *frames[i + 1 :]]


def _repeat(rng: random.Random, frames: Frames) -> Frames:
    return [*frames, *frames[-1:]] * rng.choice([1, 1, 1, 8])


def _shuffle(rng: random.Random, frames: Frames) -> Frames:
    return rng.sample(frames, len(frames))


def _edit(rng: random.Random, frames: Frames) -> Frames:
    """Put an odd value somewhere into the header, which stays well-formed msgpack."""
    try:
        header = msgpack.unpackb(frames[0]) if frames else None
    except (ValueError, msgpack.UnpackException):
        return frames
    if not isinstance(header, dict):
        return frames
    _edit_in_place(rng, header)
    try:
        return [msgpack.packb(header), *frames[1:]]
    except (ValueError, OverflowError, UnicodeEncodeError):
        return frames


def _edit_in_place(rng: random.Random, node: Any) -> None:
    """Walk down a random way and change, add or remove one entry at its end."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    if not keys:
        return
    key = rng.choice(keys)
    if isinstance(node[key], dict | list) and rng.random() < 0.7:
        _edit_in_place(rng, node[key])
    elif isinstance(node, dict) and rng.random() < 0.2:
        del node[key]
    elif isinstance(node, dict) and rng.random() < 0.2:
        node[rng.choice(["", "pickle", "__class__", "x" * 300])] = rng.choice(ODD_VALUES)
    else:
        node[key] = rng.choice(ODD_VALUES)


_MUTATIONS: tuple[Callable[[random.Random, Frames], Frames], ...] = (
    _flip,
    _cut,
    _grow,
    _drop,
    _repeat,
    _shuffle,
    _edit,
    _edit,
    _edit,
)
