"""Damaged files: everything before the cut and after a bad chunk is saved, and what is missing is said."""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from mcap.reader import make_reader

from contract.errors import EpisodeError
from robot_client.episodes import ros_messages as ros
from robot_client.episodes.copy import BagCopy
from robot_client.episodes.entry_writer import message_of
from robot_client.episodes.folder import data_file
from robot_client.episodes.info import info_of
from robot_client.episodes.mcap_scan import McapScan
from robot_client.episodes.reader import BagReader
from robot_client.episodes.recover import cut, recover
from tests.robot_client.episodes import made

CUTS = 200


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A minute of ticks and a few observations."""
    return made.record(tmp_path_factory.mktemp("whole"), ticks=6000, replans=4)


def chunks_of(folder: Path) -> list[tuple[int, int]]:
    """Offset of each chunk record and of its end, in order."""
    with data_file(folder).open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    return sorted(
        (index.chunk_start_offset, index.chunk_start_offset + index.chunk_length) for index in summary.chunk_indexes
    )


@pytest.fixture(scope="module")
def chunks(whole: Path) -> list[tuple[int, int]]:
    return chunks_of(whole)


def saved_of(path: Path) -> tuple[list, McapScan]:
    scan = McapScan(path)
    return [(message.topic, message.sequence, message.data) for message in scan.messages()], scan


def damaged(whole: Path, folder: Path, data: bytes) -> Path:
    """A copy of the episode with other bytes."""
    folder.mkdir()
    shutil.copy(whole / "metadata.yaml", folder / "metadata.yaml")
    (folder / data_file(whole).name).write_bytes(data)
    return folder


def test_two_hundred_cuts_keep_every_whole_chunk_before_them(tmp_path: Path) -> None:
    """B37: a file cut anywhere gives all messages of the chunks before the cut, in order, and is never complete."""
    whole = made.record(tmp_path, ticks=2000, replans=4)
    data = data_file(whole).read_bytes()
    messages, scan = saved_of(data_file(whole))
    assert not scan.damages and scan.finished
    ends = [end for _, end in chunks_of(whole)]
    piece = tmp_path / "piece.mcap"
    before = Counter[int]()
    for offset in sorted(random.Random(1).sample(range(len(data)), CUTS)):
        piece.write_bytes(data[:offset])
        saved, cut_scan = saved_of(piece)
        assert saved == messages[: len(saved)]
        whole_chunks = sum(end <= offset for end in ends)
        before[whole_chunks] = before[whole_chunks] or len(saved)
        assert len(saved) == before[whole_chunks], "every whole chunk counts, and none in part"
        assert cut_scan.damages and not cut_scan.finished
    counts = [before[number] for number in sorted(before)]
    assert counts == sorted(counts) and max(before) > 20


def test_a_cut_episode_is_recovered_and_marked_incomplete(whole: Path, tmp_path: Path) -> None:
    """B37: metadata.yaml of the whole file still lies there and says complete; the data says otherwise."""
    data = data_file(whole).read_bytes()
    broken = damaged(whole, tmp_path / "broken", data[: len(data) * 2 // 3])
    assert not info_of(broken).complete
    saved = recover(broken, tmp_path / "saved")
    assert not saved.complete and 35 < saved.seconds < 45
    assert saved.messages == info_of(tmp_path / "saved").messages
    assert any("cut off" in line for line in saved.missing)
    found = info_of(tmp_path / "saved")
    assert not found.complete, "a recovered episode is never offered as complete"
    assert (tmp_path / "saved" / "metadata.yaml").is_file()
    with data_file(tmp_path / "saved").open("rb") as file:
        summary = make_reader(file, validate_crcs=True).get_summary()
    assert summary is not None and summary.statistics is not None
    assert summary.statistics.message_count == saved.messages


def test_a_flipped_byte_in_the_middle_costs_one_chunk_and_its_count_is_known(
    whole: Path, chunks: list[tuple[int, int]], tmp_path: Path
) -> None:
    """B37: recovery does not stop at the first bad chunk."""
    data = bytearray(data_file(whole).read_bytes())
    start, end = chunks[len(chunks) // 2]
    data[(start + end) // 2] ^= 0x10
    broken = damaged(whole, tmp_path / "broken", bytes(data))
    all_messages, _ = saved_of(data_file(whole))
    saved, scan = saved_of(data_file(broken).with_name(data_file(whole).name))
    assert len(scan.damages) == 1 and scan.finished
    assert scan.damages[0].messages == len(all_messages) - len(saved)
    assert saved[-1] == all_messages[-1]
    assert recover(broken, tmp_path / "saved").messages == len(saved)
    with pytest.raises(EpisodeError, match="recover"):
        list(BagReader(broken).messages())


@pytest.mark.parametrize("place", ["opcode", "length", "high length", "compression name"])
def test_a_broken_record_head_costs_one_chunk(
    whole: Path, chunks: list[tuple[int, int]], tmp_path: Path, place: str
) -> None:
    """B37: the way back to the next chunk is found, whatever the head of one has become."""
    offset = {"opcode": 0, "length": 1, "high length": 7, "compression name": 9 + 28 + 4}[place]
    data = bytearray(data_file(whole).read_bytes())
    start = chunks[len(chunks) // 2][0]
    data[start + offset] ^= 0x81
    file = tmp_path / "broken.mcap"
    file.write_bytes(data)
    all_messages, _ = saved_of(data_file(whole))
    saved, scan = saved_of(file)
    assert scan.damages and saved[-1] == all_messages[-1]
    assert 0 < len(all_messages) - len(saved) <= 2 * 5 * 100


def test_zeroed_last_bytes_lose_no_message(whole: Path, tmp_path: Path) -> None:
    """B37: the closing mark is gone; all messages are there, and the file is still not called whole."""
    data = data_file(whole).read_bytes()
    broken = damaged(whole, tmp_path / "broken", data[:-8] + bytes(8))
    saved = recover(broken, tmp_path / "saved")
    assert saved.messages == info_of(whole).messages
    assert not saved.complete and "no message is lost" in saved.missing[0]


@pytest.mark.parametrize("metadata", [None, "", "rosbag2_bagfile_information:\n  relative_file_paths: [other.mcap]\n"])
def test_data_is_read_without_its_metadata_file(whole: Path, tmp_path: Path, metadata: str | None) -> None:
    """B37: metadata.yaml deleted, empty, or of another bag."""
    folder = damaged(whole, tmp_path / "bag", data_file(whole).read_bytes())
    (folder / "metadata.yaml").unlink()
    if metadata is not None:
        (folder / "metadata.yaml").write_text(metadata)
    assert info_of(folder).messages == info_of(whole).messages
    saved = recover(folder, tmp_path / "saved")
    assert saved.complete and info_of(tmp_path / "saved").complete


@pytest.mark.parametrize("content", [b"", b"\x89MCAP0\r\n", b"\x89MCAP0\r\n\x01\x05", b"no bag at all" * 100])
def test_files_with_nothing_in_them_are_called_that(tmp_path: Path, content: bytes) -> None:
    """B37: 0 bytes, header only, something else."""
    file = tmp_path / "x.mcap"
    file.write_bytes(content)
    saved = recover(file, tmp_path / "saved")
    assert saved.messages == 0 and not saved.complete and saved.missing


def test_a_file_that_claims_absurd_sizes_is_read_in_little_memory(whole: Path, tmp_path: Path) -> None:
    """B37: no claim of a damaged file is allocated (foxglove/mcap 1220); 500 MB would be too much."""
    data = bytearray(data_file(whole).read_bytes())
    with data_file(whole).open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    for index in summary.chunk_indexes[::2]:
        at = index.chunk_start_offset
        data[at + 9 + 16 : at + 9 + 24] = (2**40).to_bytes(8, "little")
    file = tmp_path / "x.mcap"
    file.write_bytes(data)
    limit = 500 * 1024 * 1024
    code = "import sys; from robot_client.cli import main; sys.argv = ['yam-robot', *sys.argv[1:]]; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "episode", "recover", str(file), str(tmp_path / "saved")],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
    )
    assert done.returncode == 1, done.stderr
    assert "INCOMPLETE" in done.stdout and "claims" in done.stdout
    assert info_of(tmp_path / "saved").messages > info_of(whole).messages / 3


def test_nothing_that_exists_is_overwritten(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(EpisodeError, match="new folder"):
        recover(whole, tmp_path / "there")


def test_a_piece_is_cut_out(whole: Path, tmp_path: Path) -> None:
    saved = cut(whole, tmp_path / "piece", 10.0, 12.0)
    assert saved.complete and 1.8 < saved.seconds <= 2.0
    found = info_of(tmp_path / "piece")
    assert found.complete and found.messages == saved.messages
    assert 199 <= found.counts["/loop/tick"] <= 201
    assert found.facts["station"] == "twin"


def test_a_piece_with_nothing_in_it_is_refused_and_leaves_no_folder(whole: Path, tmp_path: Path) -> None:
    """It was said to be saved: an episode of no messages, marked incomplete."""
    with pytest.raises(EpisodeError, match=r"from 500 to inf s.*none.*info"):
        cut(whole, tmp_path / "piece", 500.0, float("inf"))
    assert not (tmp_path / "piece").exists()


def test_what_a_copy_lacks_of_its_source_is_told_line_by_line(whole: Path, tmp_path: Path) -> None:
    """It was one line: a list as JSON behind `missing:`."""
    data = data_file(whole).read_bytes()
    broken = damaged(whole, tmp_path / "broken", data[: len(data) * 2 // 3])
    saved = recover(broken, tmp_path / "saved")
    assert len(saved.missing) > 1
    assert info_of(tmp_path / "saved").missing == saved.missing


def test_a_closing_record_that_says_incomplete_and_not_why_is_believed(tmp_path: Path) -> None:
    copy = BagCopy(tmp_path / "episode_000000")
    copy.open()
    copy.add(message_of("/mode", 0, 1, ros.text("{}")))
    copy.close({"complete": "false"})
    assert info_of(tmp_path / "episode_000000").missing == ("something: its closing record does not say what",)
