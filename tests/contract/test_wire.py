"""B07 and the bounds of B05 at the level of frames."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from contract.codec import decode
from contract.errors import CodecError, FieldError, StackError
from contract.wire import MAX_ARRAY_BYTES, MAX_ARRAYS, OWNED_BYTES, Buffer, pack, unpack

DTYPES = ("u1", "<u2", "f2", "f4", "f8", "?", ">f4", ">u2", "i4", "i8", "u8")


def through(array: np.ndarray) -> np.ndarray:
    """The array on the other side."""
    frames = [bytes(frame) for frame in pack({}, {"a": array})]
    return unpack(frames)[1]["a"]


def identical(got: np.ndarray, sent: np.ndarray) -> bool:
    """Same shape, same values bit by bit (so NaN counts too), little-endian."""
    want = np.ascontiguousarray(sent).reshape(sent.shape).astype(sent.dtype.newbyteorder("<"))
    return got.shape == sent.shape and got.dtype == want.dtype and got.tobytes() == want.tobytes()


@st.composite
def views(draw: st.DrawFn) -> np.ndarray:
    """Arrays as users have them: any order, cropped, strided, flipped, transposed, 0-d, empty."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
    array = draw(hnp.arrays(dtype, shape))
    if draw(st.booleans()):
        array = np.asfortranarray(array)
    if draw(st.booleans()):
        array = array.T
    for axis in range(array.ndim):
        step = draw(st.sampled_from([1, 1, 2, -1, -2]))
        array = array[(slice(None),) * axis + (slice(None, None, step),)]
    return array


@given(views())
def test_arrays_of_every_layout_arrive_with_equal_values(array: np.ndarray) -> None:
    """B07: cropped and transposed images crashed the sender or arrived garbled."""
    assert identical(through(array), array)


def test_a_transposed_chw_view_of_an_image_arrives_as_it_looks() -> None:
    """B07."""
    image = np.random.default_rng(0).integers(0, 256, (48, 64, 3), np.uint8)
    assert np.array_equal(through(image.transpose(2, 0, 1)), image.transpose(2, 0, 1))
    assert np.array_equal(through(image[5:30:2, ::-1]), image[5:30:2, ::-1])


def test_three_full_hd_images_fit_in_one_message() -> None:
    """B07: messages beyond a decoder's default limits failed deep inside."""
    rng = np.random.default_rng(1)
    images = {str(i): rng.integers(0, 256, (1080, 1920, 3), np.uint8) for i in range(3)}
    _, arrays = unpack([bytes(frame) for frame in pack({}, images)])
    assert all(np.array_equal(arrays[name], images[name]) for name in images)


def test_a_large_contiguous_image_is_sent_without_a_copy() -> None:
    image = np.zeros((480, 640, 3), np.uint8)
    frame = pack({}, {"image": image})[1]
    assert np.shares_memory(np.frombuffer(frame, np.uint8), image)


def test_small_arrays_may_be_written_by_the_receiver_and_images_may_not() -> None:
    """B07: decoded arrays could not be written to. State and rows can; images are views and say so."""
    small = through(np.zeros(14, np.float32))
    small += 1
    assert small.sum() == 14
    image = through(np.zeros(OWNED_BYTES + 1, np.uint8))
    with pytest.raises(ValueError, match="read-only"):
        image[0] = 1


@pytest.mark.parametrize(
    ("header", "path"),
    [
        ({"body": {3: "x"}}, r"\.body\.3"),
        ({"body": {"joints": {b"x": 1}}}, r"\.body\.joints"),
        ({"body": {"names": ["ok", "\udcff"]}}, r"\.body\.names\[1\]"),
        ({"body": {"value": 2**64}}, r"\.body\.value"),
        ({"body": {"value": {1, 2}}}, r"\.body\.value"),
        ({"body": {"value": np.float32(1)}}, r"\.body\.value"),
        ({"body": {"value": b"bytes"}}, r"\.body\.value"),
    ],
)
def test_what_cannot_travel_is_refused_by_the_sender_with_its_path(header: dict[str, Any], path: str) -> None:
    """B07: integer keys packed fine and failed only on the other side."""
    with pytest.raises(FieldError, match=path):
        pack(header, {})


@pytest.mark.parametrize(
    "array",
    [
        np.array([{"a": 1}], object),
        np.zeros(3, complex),
        np.zeros(3, "datetime64[ns]"),
        np.zeros(2, [("a", "f4")]),
        np.array(["text"]),
        np.zeros((1,) * 9, np.uint8),
        np.broadcast_to(np.uint8(0), MAX_ARRAY_BYTES + 1),
    ],
    ids=lambda array: str(array.dtype),
)
def test_arrays_that_cannot_travel_are_refused_by_the_sender_with_their_name(array: np.ndarray) -> None:
    """B07: bfloat16 and object arrays."""
    with pytest.raises(FieldError, match="array odd"):
        pack({}, {"odd": array})


def test_bfloat16_is_refused_by_the_sender_with_its_name() -> None:
    """B07: numpy cannot say what it is, so the other side could not either."""
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    with pytest.raises(FieldError, match=r"array odd.*bfloat16"):
        pack({}, {"odd": np.zeros(3, bfloat16)})


def test_more_arrays_than_a_message_may_have_are_refused_by_the_sender() -> None:
    with pytest.raises(FieldError, match="arrays"):
        pack({}, {str(i): np.zeros(1) for i in range(MAX_ARRAYS + 1)})


class _Marker:
    """What a pickle would run."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self._path,))


def hostile(marker: Path) -> list[list[Buffer]]:
    """B05's list, as frames."""

    def table(*entries: Any) -> bytes:
        return bytes(msgpack.packb({"protocol": 1, "kind": "ping", "id": 1, "body": {}, "arrays": list(entries)}))

    return [
        [pickle.dumps(_Marker(marker))],
        [table(["a", "|O", [1]]), pickle.dumps(_Marker(marker))],
        [msgpack.packb({"arrays": msgpack.ExtType(42, b"x" * 10)})],
        [msgpack.packb(msgpack.ExtType(42, b""))],
        [table(["a", "f" * 10_000, [1]]), b"\0"],
        [table(["a", "<f8", [2**20, 2**20, 2**20]]), b"\0" * 8],
        [table(["a", "<f8", [2**60]]), b"\0" * 8],
        [table(["a", "|u1", [0, 2**26, 2**26, 2**26]]), b""],
        [table(["a", "|b1", [2]]), b"\x00\x07"],
        [table(["a", "<f4", [True]]), b"\0" * 4],
        [table(["a", "<f4", [-1]]), b"\0" * 4],
        [table([b"a", "<f4", [1]]), b"\0" * 4],
        [table(["a", "<f4"]), b"\0" * 4],
        [b"\0" * 300_000_000],
        [b"\x91" * 100_000],
        [b"\xdd\xff\xff\xff\xff"],
        [b""],
        [],
    ]


def test_hostile_frames_end_in_a_typed_error_and_run_nothing(tmp_path: Path) -> None:
    """B05: a pickle on the socket ran code; sizes were believed."""
    marker = tmp_path / "marker"
    for frames in hostile(marker):
        with pytest.raises(CodecError):
            unpack(frames)
    assert not marker.exists()


def test_a_thousand_random_messages_end_in_a_typed_error() -> None:
    """B05: random bytes x 1000."""
    rng = random.Random(5)
    for _ in range(1000):
        frames = [rng.randbytes(rng.randrange(200)) for _ in range(rng.randrange(5))]
        with pytest.raises(StackError):
            decode(frames)


@given(st.data())
def test_a_damaged_message_is_decoded_or_refused_but_never_anything_else(data: st.DataObject) -> None:
    """B05: bytes of a good message flipped, cut, doubled or lost."""
    from contract.codec import encode
    from tests.contract.messages_of_all_kinds import one_of_each

    frames = [bytes(frame) for frame in encode(data.draw(st.sampled_from(one_of_each())), 3)]
    index = data.draw(st.integers(0, len(frames) - 1))
    frame = bytearray(frames[index])
    for _ in range(data.draw(st.integers(1, 4))):
        if frame:
            frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    frames[index] = bytes(frame[: data.draw(st.integers(0, len(frame)))]) if data.draw(st.booleans()) else bytes(frame)
    frames = data.draw(st.sampled_from([frames, frames[:-1], [*frames, b""], frames[::-1]]))
    try:
        decode(frames)
    except StackError:
        return
