"""Recording: what is in the file is what was sent, on one clock, and what is not there is counted."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import yaml
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from contract.errors import EpisodeError
from contract.layout import URDF_NAMES
from robot_client.episodes import mcap_file
from robot_client.episodes.ballast import NAME as BALLAST
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.folder import create_next, data_file, episodes_in
from robot_client.episodes.info import info_of
from robot_client.episodes.observations import from_header, image_of
from robot_client.episodes.reader import BagReader
from robot_client.episodes.ros_messages import from_urdf
from tests.robot_client.episodes import made
from tests.waiting import PATIENCE_S, until


def decoded(folder: Path, topic: str) -> list:
    """Messages of one topic as the stock reader decodes them, checksums checked."""
    with data_file(folder).open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        return [(raw, message) for _, _, raw, message in reader.iter_decoded_messages(topics=[topic])]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.record(tmp_path_factory.mktemp("episodes"))


def test_the_stock_reader_finds_all_topics_with_their_counts(folder: Path) -> None:
    with data_file(folder).open("rb") as file:
        summary = make_reader(file, validate_crcs=True).get_summary()
    assert summary is not None and summary.statistics is not None
    counts = {
        channel.topic: summary.statistics.channel_message_counts.get(channel.id, 0)
        for channel in summary.channels.values()
    }
    assert counts["/loop/tick"] == counts["/joint_commands"] == counts["/joint_requests"] == 400
    assert counts["/policy/observation"] == counts["/policy/observation/top"] == counts["/policy/chunk"] == 3
    assert counts["/loop/clips"] == 40 and counts["/mode"] == 1


def test_metadata_yaml_agrees_with_a_fresh_count(folder: Path) -> None:
    """B38: the manifest is what the files are."""
    content = yaml.safe_load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    counted = info_of(folder)
    listed = {t["topic_metadata"]["name"]: t["message_count"] for t in content["topics_with_message_count"]}
    assert listed == counted.counts
    assert content["message_count"] == content["files"][0]["message_count"] == counted.messages
    assert content["relative_file_paths"] == [data_file(folder).name]
    assert content["duration"]["nanoseconds"] / 1e9 == pytest.approx(counted.seconds)
    assert content["custom_data"]["complete"] == "true"


def test_observations_come_back_bit_for_bit(folder: Path) -> None:
    headers = decoded(folder, "/policy/observation")
    for sequence, (_, message) in enumerate(headers):
        images = {}
        for role in made.ROLES:
            _, image = decoded(folder, f"/policy/observation/{role}")[sequence]
            assert image.header.frame_id == f"s/3/{sequence}"
            images[role] = image_of(image.data)
        back = from_header(message.data, images)
        sent = made.observation(sequence, back.stamp_ns)
        for name in ("joints", "prefix"):
            assert getattr(back, name).tobytes() == getattr(sent, name).tobytes()
        assert all((back.images[role] == sent.images[role]).all() for role in made.ROLES)
        plain = ("seed", "first_row", "budget_ns", "guidance", "branches", "instruction", "image_stamps_ns", "epoch")
        assert [getattr(back, name) for name in plain] == [getattr(sent, name) for name in plain]


def test_all_stamps_lie_on_one_clock(folder: Path) -> None:
    for raw, message in decoded(folder, "/joint_commands"):
        stamp_ns = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        assert stamp_ns == raw.log_time == made.TIME.of(made.tick(raw.sequence).stamp_ns)
    _, first = decoded(folder, "/joint_states")[0]
    stamp_ns = first.header.stamp.sec * 10**9 + first.header.stamp.nanosec
    assert stamp_ns == made.TIME.of(made.tick(0).measured_stamp_ns)


def test_the_bag_has_asked_told_and_the_reason_under_one_number(folder: Path) -> None:
    """B40: policy asks for 0.5 rad more than the arms were told; the bag has both, why, from whom and when."""
    asked = {raw.sequence: message for raw, message in decoded(folder, "/joint_requests")}
    told = {raw.sequence: message for raw, message in decoded(folder, "/joint_commands")}
    clips = {raw.sequence: message for raw, message in decoded(folder, "/loop/clips")}
    assert sorted(clips) == list(range(0, 400, 10))
    for number in clips:
        assert list(clips[number].data) == [2] * 14
        assert list(told[number].name) == list(URDF_NAMES)
        difference = from_urdf(np.array(asked[number].position)) - from_urdf(np.array(told[number].position))
        np.testing.assert_allclose(difference, 0.5, atol=1e-12)
        np.testing.assert_allclose(from_urdf(np.array(told[number].position)), made.tick(number).told, atol=1e-12)
        assert asked[number].header.frame_id == made.tick(number).chunk_id
        assert told[number].header.frame_id == "policy"
    ticks = dict((raw.sequence, list(message.data)) for raw, message in decoded(folder, "/loop/tick"))
    expected = made.tick(7)
    assert ticks[7][:3] == [expected.deadline_ns, expected.stamp_ns, expected.lateness_ns]


def test_chunk_rows_masses_and_reading_are_exact(folder: Path) -> None:
    for sequence, (_, message) in enumerate(decoded(folder, "/policy/chunk")):
        sent = made.answer_to(made.observation(sequence, 0))
        rows = from_urdf(np.array([point.positions for point in message.points])).astype(np.float32)
        assert rows.tobytes() == sent.rows.tobytes()
        _, masses = decoded(folder, "/policy/masses")[sequence]
        assert np.array(masses.data, np.float32).tobytes() == sent.masses.tobytes()
        assert [dim.size for dim in masses.layout.dim] == list(sent.masses.shape)
        _, answer = decoded(folder, "/policy/answer")[sequence]
        assert json.loads(answer.data)["tr_value"] == sent.tr_value


def test_no_chunk_holds_more_than_a_second(folder: Path) -> None:
    with data_file(folder).open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    assert len(summary.chunk_indexes) >= 4
    assert all(chunk.compression == "zstd" for chunk in summary.chunk_indexes)
    assert all(chunk.message_end_time - chunk.message_start_time <= 10**9 for chunk in summary.chunk_indexes)


def test_lost_ticks_and_lost_answers_are_counted_in_the_file(tmp_path: Path) -> None:
    """B38: what the recorder did not get is in the bag itself, and the sum agrees with the numbers of the ticks."""
    recording = made.Recording(tmp_path)
    recording.ticks(100)
    recording.ticks(60, lost=True)
    recording.ticks(40)
    recording.message_number += 2
    recording.replan(0)
    status = recording.close()
    assert not status.complete and status.lost == 62
    reader = BagReader(recording.folder)
    numbers = [message.sequence for message in reader.messages(["/loop/tick"])]
    assert len(numbers) == 140 and max(numbers) + 1 - len(numbers) == 60
    assert json.loads(reader.notes["closing"]["lost_before_the_recorder"]) == {
        "loop ticks": 60,
        "planner messages": 2,
    }
    assert not info_of(recording.folder).complete
    last = [Decoder()(message) for message in BagReader(recording.folder).messages(["/diagnostics"])][-1]
    assert {value.key: value.value for value in last.status[0].values}["loop ticks"] == "60"


def test_a_slow_disk_loses_counted_messages_and_nothing_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B38: a disk that hangs fills the backlog; per topic received = written + lost, in the file."""
    free = threading.Event()
    write = os.write

    def hanging(descriptor: int, data: bytes) -> int:
        assert free.wait(PATIENCE_S)
        return write(descriptor, data)

    recording = made.Recording(tmp_path, most_bytes=300_000)
    monkeypatch.setattr(mcap_file.os, "write", hanging)
    recording.ticks(1000)
    assert recording.bag.backlog_bytes <= 300_000
    lost = sum(tally.lost for tally in recording.bag.tallies().values())
    assert lost > 0
    free.set()
    assert not recording.close().complete
    reader = BagReader(recording.folder)
    counts = Counter(message.topic for message in reader.messages())
    closing = reader.notes["closing"]
    received, written, gone = (json.loads(closing[key]) for key in ("received", "written", "lost"))
    assert Counter(written) == counts
    assert {topic: counts[topic] + gone.get(topic, 0) for topic in received} == received
    assert received["/loop/tick"] == 1000


def test_a_disk_that_hangs_at_the_end_is_named_and_the_rest_is_recoverable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B38: closing never waits for ever, and never says that all went well."""
    recording = made.Recording(tmp_path)
    recording.bag._close_s = 0.2
    recording.ticks(200)
    assert until(lambda: recording.bag.tallies()["/loop/tick"].written >= 100), "the first chunks"
    free = threading.Event()
    write = os.write
    monkeypatch.setattr(mcap_file.os, "write", lambda fd, data: write(fd, data) if free.wait(PATIENCE_S) else 0)
    recording.ticks(100)
    status = recording.close()
    free.set()
    assert not status.complete and "no end" in status.trouble
    assert not (recording.folder / "metadata.yaml").exists()
    found = info_of(recording.folder)
    assert not found.complete and found.counts["/loop/tick"] >= 100


def test_a_full_disk_leaves_a_closed_readable_file_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B38: disk full in the middle; what was written is closed with the room kept free, and the recorder goes on."""
    recording = made.Recording(tmp_path)
    recording.ticks(200)
    assert until(lambda: recording.bag.tallies()["/loop/tick"].written >= 100), "the first chunks"
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if (recording.folder / BALLAST).exists():
            write(descriptor, bytes(data[: len(data) // 2]))
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr(mcap_file.os, "write", full)
    recording.ticks(200)
    assert until(lambda: bool(recording.bag.trouble)), "the failure"
    status = recording.close()
    assert not status.complete and "No space left" in status.trouble and status.lost > 0
    found = info_of(recording.folder)
    assert found.counts["/loop/tick"] >= 100 and not found.complete
    assert not any("byte" in line for line in found.missing), "the file itself is whole"
    with data_file(recording.folder).open("rb") as file:
        assert make_reader(file, validate_crcs=True).get_summary() is not None


def test_an_episode_without_the_loops_last_word_is_not_complete(tmp_path: Path) -> None:
    recording = made.Recording(tmp_path)
    recording.ticks(40)
    status = recording.close(last_word=False)
    assert not status.complete and "last word" in status.trouble


def test_numbers_come_from_a_fresh_look_and_nothing_is_overwritten(tmp_path: Path) -> None:
    """B38: a crash between two episodes, and a start beside another one, still give every episode a folder."""
    names = []
    for _ in range(3):
        folder = create_next(tmp_path)
        data_file(folder).write_bytes(b"kept")
        names.append(folder.name)
    (tmp_path / "episode_000001").rename(tmp_path / "elsewhere")
    names.append(create_next(tmp_path).name)
    assert names == [f"episode_{number:06d}" for number in range(4)]
    assert all((tmp_path / name / f"{name}_0.mcap").read_bytes() == b"kept" for name in (names[0], names[2]))


def test_twenty_starts_give_twenty_episodes_and_a_second_start_is_refused(tmp_path: Path) -> None:
    """B38: counters, files and a fresh count agree."""
    for _ in range(20):
        recording = made.Recording(tmp_path)
        with pytest.raises(EpisodeError, match="a second"):
            recording.bag.open({})
        recording.ticks(20)
        assert recording.close().complete
    folders = episodes_in(tmp_path)
    assert [folder.name for folder in folders] == [f"episode_{number:06d}" for number in range(20)]
    assert all(info_of(folder).complete for folder in folders)


def test_two_recorders_at_once_get_two_folders(tmp_path: Path) -> None:
    first, second = made.Recording(tmp_path), made.Recording(tmp_path)
    assert first.folder != second.folder
    for recording in (first, second):
        recording.ticks(20)
        assert recording.close().complete
