"""ABC-130k files, written here as the card says: protobuf in MCAP, streams of unequal rates and lengths, video."""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from mcap.writer import Writer

from contract.errors import EpisodeError
from contract.layout import gripper_of, joints_of
from robot_client.episodes.course import course_of
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.formats.bag_source import BagSource
from robot_client.episodes.formats.choose import open_episode
from robot_client.episodes.import_episode import import_episode
from robot_client.episodes.info import info_of
from robot_client.episodes.observations import image_of
from robot_client.episodes.protobuf import Fields
from robot_client.episodes.reader import BagReader
from robot_client.episodes.samples import Sampler

START_NS = 1_700_000_000_123_456_789
SECONDS = 2.0


def varint(value: int) -> bytes:
    data = b""
    while value >= 0x80:
        data, value = data + bytes([value & 0x7F | 0x80]), value >> 7
    return data + bytes([value])


def field(number: int, value: bytes | int | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def stamp(ns: int) -> bytes:
    return field(1, field(1, ns // 10**9) + field(2, ns % 10**9))


def state(ns: int, values: np.ndarray) -> bytes:
    return stamp(ns) + field(2, struct.pack(f"<{len(values)}d", *values)) + field(5, struct.pack("<d", 1.0))


def units(codec: str, count: int) -> list[bytes]:
    """One access unit a frame; frame i has the shade 20 + 3 i."""
    encoder = av.CodecContext.create(codec, "w")
    encoder.width, encoder.height, encoder.pix_fmt = 64, 48, "yuv420p"
    encoder.time_base, encoder.framerate = Fraction(1, 30), Fraction(30)
    encoder.options = {"tune": "zerolatency", "preset": "ultrafast", "bf": "0"}
    found = []
    for i in range(count):
        frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 20 + 3 * i, np.uint8), format="rgb24")
        frame.pts = i
        found += [bytes(packet) for packet in encoder.encode(frame)]
    return found + [bytes(packet) for packet in encoder.encode(None)]


def abc_file(path: Path, video: tuple[str, str] = ("libx264", "h264")) -> Path:
    """Arms at 200 Hz (the right one ends early), grippers at 100 Hz, cameras at 30 Hz."""
    with path.open("wb") as out:
        writer = Writer(out)
        writer.start()
        schema = writer.register_schema("x", "protobuf", b"")
        messages: list[tuple[int, str, bytes]] = [(START_NS, "/instruction", stamp(START_NS) + field(2, "fold it"))]
        for arm, end_s in (("left", SECONDS), ("right", SECONDS - 0.2)):
            for kind, shift in (("state", 0.0), ("action", 0.01)):
                for i in range(int(200 * end_s)):
                    ns = START_NS + i * 5_000_000
                    messages.append((ns, f"/{arm}-arm-{kind}", state(ns, np.arange(6) * 0.1 + i * 1e-3 + shift)))
                for i in range(int(100 * end_s)):
                    ns = START_NS + i * 10_000_000
                    messages.append((ns, f"/{arm}-ee-{kind}", state(ns, np.array([1.0 - i * 1e-3]))))
        encoder, name = video
        for topic in ("/top-camera", "/left-wrist-camera", "/right-wrist-camera"):
            for i, unit in enumerate(units(encoder, int(30 * SECONDS))):
                ns = START_NS + i * 33_333_333
                messages.append((ns, topic, stamp(ns) + field(2, "cam") + field(3, unit) + field(4, name)))
        channels: dict[str, int] = {}
        for ns, topic, data in sorted(messages, key=lambda message: message[0]):
            if topic not in channels:
                channels[topic] = writer.register_channel(topic, "protobuf", schema)
            writer.add_message(channels[topic], ns, data, ns)
        writer.finish()
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("abc")
    return import_episode(open_episode(abc_file(root / "episode.mcap")), root / "episodes")


def test_an_abc_episode_becomes_one_of_ours(folder: Path) -> None:
    found = info_of(folder)
    assert found.complete, found.missing
    assert folder.name == "episode_000000" and found.facts["instruction"] == "fold it"
    assert found.counts["/top/image_raw/compressed"] == 60
    assert BagSource(folder).cameras() == {"top": 30.0, "left_wrist": 30.0, "right_wrist": 30.0}


def test_joints_are_joined_by_name_and_stamp(folder: Path) -> None:
    course = course_of(folder)
    assert course.duration_ns == pytest.approx(1.99e9, abs=6e6)
    for at_s in (0.5, 1.5):
        target = course.at(at_s * 1e9)
        for arm in ("left", "right"):
            np.testing.assert_allclose(joints_of(target, arm), np.arange(6) * 0.1 + at_s * 0.2 + 0.01, atol=3e-3)
            assert gripper_of(target, arm) == pytest.approx(1.0 - at_s * 0.1, abs=3e-3)


def test_frame_i_keeps_the_stamp_of_message_i(folder: Path) -> None:
    decode = Decoder()
    for i, message in enumerate(BagReader(folder).messages(["/left_wrist/image_raw/compressed"])):
        assert message.log_ns == START_NS + i * 33_333_333
        assert image_of(bytes(decode(message).data)).mean() == pytest.approx(20 + 3 * i, abs=4)


def test_it_can_be_sampled_for_training(folder: Path) -> None:
    samples = list(Sampler(BagSource(folder), ["top", "left_wrist", "right_wrist"], 30.0).samples())
    assert len(samples) in (59, 60)
    np.testing.assert_allclose([s.action[0] - s.state[0] for s in samples], 0.01, atol=2e-3)


@pytest.mark.skipif("libx265" not in av.codecs_available, reason="PyAV without an H.265 encoder")
def test_h265_is_read_too(tmp_path: Path) -> None:
    folder = import_episode(open_episode(abc_file(tmp_path / "x.mcap", ("libx265", "h265"))), tmp_path / "out")
    frames = [image_of(bytes(Decoder()(one).data)) for one in BagReader(folder).messages(["/top/image_raw/compressed"])]
    assert len(frames) == 60
    assert frames[30].mean() == pytest.approx(110, abs=5)


def test_a_video_of_another_kind_is_named(tmp_path: Path) -> None:
    with pytest.raises(EpisodeError, match="h264 or h265"):
        import_episode(open_episode(abc_file(tmp_path / "x.mcap", ("libx264", "av1"))), tmp_path / "out")


def test_what_was_read_until_the_trouble_is_marked_incomplete(tmp_path: Path) -> None:
    with pytest.raises(EpisodeError, match="h264 or h265"):
        import_episode(open_episode(abc_file(tmp_path / "x.mcap", ("libx264", "av1"))), tmp_path / "out")
    assert not info_of(tmp_path / "out" / "episode_000000").complete


@pytest.mark.parametrize("data", [b"\x12\xff\xff\xff\xff\x0f", b"\x08", b"\x0b\x00", b"\x08" + b"\xff" * 12])
def test_nonsense_in_protobuf_is_an_error_of_ours(data: bytes) -> None:
    with pytest.raises(EpisodeError, match="protobuf"):
        Fields(data)
