"""Episodes of all layouts: what is in them, by name and by stamp, and what is wrong with them in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="datasets need pyarrow")

from contract.errors import EpisodeError
from contract.layout import CHANNELS
from robot_client.clock import NS_PER_S
from robot_client.episodes.course import course_of
from robot_client.episodes.formats.base import EpisodeSource
from robot_client.episodes.formats.choose import episodes_at, open_episode
from robot_client.episodes.formats.entries import Driver, Entry, Instruction, Joints, Picture
from robot_client.episodes.formats.joint_names import channel_columns, flat_names
from robot_client.episodes.formats.roles import role_of
from robot_client.episodes.info import info_of
from robot_client.episodes.recover import cut, recover
from tests.robot_client.episodes import foreign
from tests.robot_client.episodes.foreign import FRAMES, ROLES, action_at, shade, state_at


def of_kind(entries: list[Entry], kind: str) -> np.ndarray:
    return np.array([e.values for e in entries if isinstance(e, Joints) and e.kind == kind])


def check_whole(source: EpisodeSource, count: int, first: int = 0) -> list[Entry]:
    """Joints by name, frames in order, all under stamps that rise, and a person driving from the beginning."""
    entries = list(source.entries())
    stamps = [entry.stamp_ns for entry in entries]
    assert stamps == sorted(stamps)
    np.testing.assert_allclose(of_kind(entries, "measured"), [state_at(first + i) for i in range(count)], atol=1e-6)
    np.testing.assert_allclose(of_kind(entries, "told"), [action_at(first + i) for i in range(count)], atol=1e-6)
    for role in ROLES:
        shades = [e.rgb().mean() for e in entries if isinstance(e, Picture) and e.role == role]
        np.testing.assert_allclose(shades, [shade(first + i) for i in range(count)], atol=4)
    assert isinstance(entries[0], Driver) and entries[0].mode == "TELEOP"
    return entries


@pytest.mark.parametrize("extra", [0, 18])
@pytest.mark.parametrize("make", [foreign.lerobot_v21, foreign.lerobot_v3])
def test_a_lerobot_dataset_is_read_by_its_names(tmp_path: Path, make: Callable, extra: int) -> None:
    """Also among 18 columns of poses, in an order that nobody would guess; the second episode is not the first."""
    root = make(tmp_path / "set", extra=extra)
    sources = episodes_at(root)
    assert [source.layout for source in sources] == [f"LeRobot {'v2.1' if 'v21' in make.__name__ else 'v3.0'}"] * 2
    entries = check_whole(sources[0], FRAMES)
    assert [e.text for e in entries if isinstance(e, Instruction)] == ["stack the cups"]
    check_whole(sources[1], FRAMES - 10, FRAMES if "v3" in make.__name__ else 0)
    assert sources[0].missing == sources[1].missing == ()
    assert info_of(Path(f"{root}#1")).counts["top"] == FRAMES - 10


def test_a_dataset_of_31_frames_a_second_keeps_its_stamps(tmp_path: Path) -> None:
    source = episodes_at(foreign.lerobot_v21(tmp_path / "set", fps=31))[0]
    stamps = [e.stamp_ns for e in source.entries(()) if isinstance(e, Joints) and e.kind == "told"]
    np.testing.assert_allclose(np.diff(stamps), NS_PER_S / 31, atol=1)
    assert source.cameras() == dict.fromkeys(ROLES, 31.0)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("joined", [False, True])
def test_the_peers_folders_are_read(tmp_path: Path, packed: bool, joined: bool) -> None:
    source = open_episode(foreign.peer(tmp_path / "ep", packed=packed, joined=joined))
    entries = check_whole(source, FRAMES)
    assert source.missing == () and source.facts["instruction"] == "fold it"
    assert entries[0].stamp_ns == round(foreign.PEER_MS * 1e6)
    assert source.cameras() == dict.fromkeys(ROLES, 30.0)


@pytest.mark.parametrize("codec", ["libx265", "libsvtav1"])
def test_videos_of_other_codecs_are_read(tmp_path: Path, codec: str) -> None:
    if codec not in av.codecs_available:
        pytest.skip(f"PyAV without {codec}")
    check_whole(open_episode(foreign.peer(tmp_path / "ep", codec=codec)), FRAMES)


def test_streams_of_unequal_length_are_read_as_far_as_they_go_and_it_is_said(tmp_path: Path) -> None:
    """More rows than frames: rows get their stamps from the declared rate, and the episode is not called complete."""
    folder = foreign.peer(tmp_path / "ep", rows=FRAMES + 7)
    np.save(folder / "action-left-joint.npy", np.load(folder / "action-left-joint.npy")[:-3])
    np.save(folder / "left-timestamp.npy", np.load(folder / "left-timestamp.npy")[:-5])
    source = open_episode(folder)
    entries = list(source.entries())
    assert len(of_kind(entries, "told")) == FRAMES + 4
    assert sum(isinstance(e, Picture) and e.role == "left_wrist" for e in entries) == FRAMES - 5
    said = "; ".join(source.missing)
    assert (
        "told 49" in said and "camera left_wrist: 5 frames without a stamp" in said and "no camera has as many" in said
    )


def test_an_episode_without_its_flag_is_readable_but_not_complete(tmp_path: Path) -> None:
    """B37: in the peer's layout."""
    folder = foreign.peer(tmp_path / "ep")
    (folder / "write_complete.flag").unlink()
    found = info_of(folder)
    assert not found.complete and "write_complete.flag" in found.missing[0] and found.counts["told"] == FRAMES


def test_a_truncated_video_is_read_to_its_end_and_named(tmp_path: Path) -> None:
    """B37: an mp4 whose index is gone shows nothing; the numbers are saved all the same."""
    folder = foreign.peer(tmp_path / "ep")
    video = folder / "top-images-rgb.mp4"
    video.write_bytes(video.read_bytes()[:2000])
    with pytest.raises(EpisodeError, match="top-images-rgb"):
        list(open_episode(folder).entries())
    saved = recover(folder, tmp_path / "saved")
    assert not saved.complete and any("top-images-rgb" in line for line in saved.missing)
    again = info_of(tmp_path / "saved")
    assert not again.complete and again.counts["/joint_commands"] == FRAMES
    assert "/top/image_raw/compressed" not in again.counts


def test_a_truncated_data_file_is_refused_in_a_line(tmp_path: Path) -> None:
    """B37: parquet has its index at the end; without it nothing can be read, and that is said."""
    root = foreign.lerobot_v21(tmp_path / "set")
    file = root / "data" / "chunk-000" / "episode_000000.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    found = info_of(Path(f"{root}#0"))
    assert not found.complete and "whole parquet file" in found.missing[0] and "\n" not in found.missing[0]
    with pytest.raises(EpisodeError, match="parquet"):
        recover(Path(f"{root}#0"), tmp_path / "saved")
    assert not info_of(tmp_path / "saved").complete


def test_a_piece_of_any_layout_becomes_an_episode_of_ours(tmp_path: Path) -> None:
    saved = cut(foreign.peer(tmp_path / "ep"), tmp_path / "piece", 0.5, 1.0)
    assert saved.complete and saved.seconds == pytest.approx(0.5, abs=0.04)
    entries = list(open_episode(tmp_path / "piece").entries())
    np.testing.assert_allclose(of_kind(entries, "told"), [action_at(i) for i in range(15, 31)], atol=1e-6)
    assert {type(e) for e in entries[:2]} == {Driver, Instruction}, "who drove before the cut still does"
    assert info_of(tmp_path / "piece").complete


def test_what_the_arms_were_told_can_be_replayed_from_any_layout(tmp_path: Path) -> None:
    course = course_of(foreign.peer(tmp_path / "ep"))
    np.testing.assert_allclose(course.values[10], action_at(10), atol=1e-6)
    assert course.duration_ns == pytest.approx(44 / 30 * 1e9, abs=1e6)


def change(path: Path, **changes: object) -> None:
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | changes))


def named(root: Path, names: object) -> None:
    info = root / "meta" / "info.json"
    features = json.loads(info.read_text())["features"]
    features["action"]["names"] = features["observation.state"]["names"] = names
    change(info, features=features)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no names": (lambda root: named(root, None), "none for left_joint1"),
    "one name": (lambda root: named(root, ["state"]), r"none for .* in \[state\]"),
    "twelve without grippers": (
        lambda root: named(root, [n for n in CHANNELS if "gripper" not in n]),
        "none for left_gripper, right_gripper",
    ),
    "eight": (lambda root: named(root, [*CHANNELS[:7], "left_gripper_force"]), "none for right_joint1"),
    "two columns for one joint": (lambda root: named(root, [*CHANNELS, "left_joint_1"]), "two for left_joint"),
    "another version": (lambda root: change(root / "meta" / "info.json", codebase_version="v1.6"), "v3.0.*v1.6"),
    "no rate": (lambda root: change(root / "meta" / "info.json", fps=0), "fps"),
    "nonsense": (lambda root: (root / "meta" / "info.json").write_text("{"), "JSON"),
    "no data": (lambda root: (root / "data" / "chunk-000" / "episode_000000.parquet").unlink(), "parquet"),
    "no tasks": (lambda root: (root / "meta" / "tasks.jsonl").unlink(), "tasks.jsonl"),
}


@pytest.mark.parametrize("case", list(BROKEN))
def test_a_dataset_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path, case: str) -> None:
    """Names decide, never positions: where they say nothing, nothing is taken for granted."""
    root = foreign.lerobot_v21(tmp_path / "set")
    breaks, said = BROKEN[case]
    breaks(root)
    with pytest.raises(EpisodeError, match=said) as caught:
        list(episodes_at(root)[0].entries(()))
    assert "\n" not in str(caught.value) and "expected" in str(caught.value)


PEER_BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "one arm": (lambda folder: change(folder / "metadata.json", arm_names=["left"]), "left and right"),
    "seven joints": (lambda folder: change(folder / "metadata.json", num_arm_joints=7), "6 joints"),
    "an array is gone": (
        lambda folder: (folder / "left-joint_pos.npy").unlink(),
        "left-joint_pos and left-gripper_pos",
    ),
    "another width": (lambda folder: np.save(folder / "left-joint_pos.npy", np.zeros((45, 5))), r"\[6, 1\]"),
    "degrees for grippers": (
        lambda folder: np.save(folder / "left-gripper_pos.npy", np.full((45, 1), 2.4)),
        "0 closed",
    ),
    "no number": (lambda folder: np.save(folder / "left-joint_pos.npy", np.full((45, 6), np.nan)), "finite"),
    "a pickle": (lambda folder: np.save(folder / "left-joint_pos.npy", np.array([{}], object)), "left-joint_pos"),
    "falling stamps": (lambda folder: np.save(folder / "top-timestamp.npy", np.arange(45)[::-1]), "rising"),
}


@pytest.mark.parametrize("case", list(PEER_BROKEN))
def test_a_peers_folder_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path, case: str) -> None:
    folder = foreign.peer(tmp_path / "ep")
    breaks, said = PEER_BROKEN[case]
    breaks(folder)
    with pytest.raises(EpisodeError, match=said) as caught:
        list(open_episode(folder).entries(()))
    assert "\n" not in str(caught.value) and "expected" in str(caught.value)


def test_what_is_no_episode_is_named_with_what_would_be_one(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").touch()
    with pytest.raises(EpisodeError, match=r"rosbag2.*LeRobot.*got a folder with a\.txt"):
        open_episode(tmp_path / "notes")
    with pytest.raises(EpisodeError, match="nothing there"):
        open_episode(tmp_path / "gone")
    root = foreign.lerobot_v21(tmp_path / "set")
    with pytest.raises(EpisodeError, match=r"one episode.*got 2.*set#0"):
        open_episode(root)
    with pytest.raises(EpisodeError, match="0 to 1"):
        open_episode(Path(f"{root}#2"))


@pytest.mark.parametrize(
    ("names", "flat"),
    [(["a", "b"], ["a", "b"]), ([["a", "b"]], ["a", "b"]), ({"motors": ["a"], "x": ["b"]}, ["a", "b"]), (None, [])],
)
def test_names_are_found_however_they_are_nested(names: object, flat: list[str]) -> None:
    assert flat_names(names) == flat


@pytest.mark.parametrize(
    "joint", ["left_joint_0.pos", "left_joint_0", "left_j0", "left_joint1", "left_joint_1.pos", "left_arm_joint_1.pos"]
)
def test_joints_count_from_nought_or_from_one(joint: str) -> None:
    first = 0 if "0" in joint else 1
    digit = joint.index(str(first))
    names = [joint[:digit] + str(first + i) + joint[digit + 1 :] for i in range(6)] + ["left_gripper"]
    both = [*names, *(name.replace("left", "right") for name in names)]
    assert channel_columns(both[::-1], "x") == list(range(13, -1, -1))


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("top", "top"),
        ("head_camera", "top"),
        ("left_rgb", "left_wrist"),
        ("cam_right_wrist", "right_wrist"),
        ("left-wrist-camera", "left_wrist"),
        ("gripper_view", "gripper_view"),
        ("image", "image"),
    ],
)
def test_camera_names_of_others_become_our_roles(name: str, role: str) -> None:
    assert role_of(name) == role
