"""An episode in Rerun's terms: written to a file, read back, and the same numbers and images are in it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rerun", reason="the view needs rerun-sdk")

from rerun.chunk import RrdReader

from contract.errors import ConfigurationError, EpisodeError
from contract.layout import CHANNELS
from robot_client.clock import FakeClock
from robot_client.episodes.folder import data_file
from robot_client.episodes.info import info_of
from robot_client.episodes.reader import BagReader
from robot_client.episodes.view.command import run_view
from robot_client.episodes.view.follow import SILENT_NS, GrowingBag, follow
from robot_client.episodes.view.screen import Screen
from tests.robot_client.episodes import foreign, made
from tests.robot_client.episodes.test_topics import full_recording
from tests.waiting import until


def read_back(file: Path) -> tuple[Counter[str], dict[str, list[Any]]]:
    """Entity -> rows on the timeline; entity -> (ROS time, value), of curves."""
    counts: Counter[str] = Counter()
    curves: dict[str, list[Any]] = {}
    for chunk in RrdReader(file).stream():
        entity = str(chunk.entity_path)
        if chunk.is_static or "time" not in chunk.timeline_names:
            continue
        counts[entity] += chunk.num_rows
        table = chunk.to_record_batch()
        for name in table.schema.names:
            if name.endswith("Scalars:scalars"):
                times = table["time"].cast("int64").to_pylist()
                curves.setdefault(entity, []).extend(zip(times, table[name].to_pylist(), strict=True))
    return counts, curves


@pytest.fixture(scope="module", params=["jpeg", "h264"])
def episode(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return full_recording(tmp_path_factory.mktemp(request.param), request.param)


def test_the_file_has_every_joint_and_every_image_at_its_time(episode: Path, tmp_path: Path) -> None:
    drawn = run_view(episode, tmp_path / "x.rrd", live=False)
    counts, curves = read_back(tmp_path / "x.rrd")
    was = info_of(episode)
    assert drawn == was.messages
    for kind, topic in {"measured": "/joint_states", "told": "/joint_commands", "asked": "/joint_requests"}.items():
        for name in CHANNELS:
            assert counts[f"/joints/{name}/{kind}"] == was.counts[topic]
    told = sorted(curves["/joints/left_joint3/told"])
    expected = [made.tick(n).told[CHANNELS.index("left_joint3")] for n in range(len(told))]
    np.testing.assert_allclose([value[0] for _, value in told], expected, atol=1e-12)
    assert told[0][0] == made.OFFSET_NS + made.tick(0).stamp_ns
    ending = "video" if "/top/video" in was.counts else "image_raw/compressed"
    for role in made.ROLES:
        assert counts[f"/cameras/{role}"] == was.counts[f"/{role}/{ending}"]
    assert counts["/policy/imagined"] == 4 and counts["/policy/seen/top"] == 1
    assert counts["/policy/temporal_ratio"] == counts["/policy/scale/lang"] == 1
    assert curves["/policy/temporal_ratio"][0][1][0] == made.answer_to(made.observation(0, made.START_NS)).tr_value
    assert counts["/words/mode"] == was.counts["/mode"] and counts["/words/failure"] == 1


def test_an_episode_of_another_layout_is_shown_too(tmp_path: Path) -> None:
    run_view(foreign.peer(tmp_path / "ep"), tmp_path / "x.rrd", live=False)
    counts, _ = read_back(tmp_path / "x.rrd")
    assert counts["/cameras/left_wrist"] == counts["/joints/right_gripper/told"] == foreign.FRAMES


def test_a_growing_bag_is_followed_to_its_end(tmp_path: Path) -> None:
    """--live: what is drawn while it is being recorded is in the end all that is in the file, in its order."""
    recording = made.Recording(tmp_path)
    growing = GrowingBag(data_file(recording.folder))
    seen: list[tuple[str, int, bytes]] = []

    def look() -> int:
        before = len(seen)
        seen.extend((m.topic, m.sequence, m.data) for m in growing.news())
        return len(seen) - before

    for _ in range(5):
        recording.ticks(100)
        assert until(lambda: look() > 0), "nothing new within the patience"
        assert not growing.over
    assert recording.close().complete
    assert until(lambda: look() >= 0 and growing.over), "the end was not seen"
    whole = [(m.topic, m.sequence, m.data) for m in BagReader(recording.folder)._in_file_order(None)]
    assert seen == whole and len(seen) > 2000


def test_following_ends_with_the_episode_and_takes_the_newest_of_a_folder(tmp_path: Path) -> None:
    made.record(tmp_path, ticks=100, replans=0)
    newest = made.record(tmp_path, ticks=300, replans=1)
    news = [message for batch in follow(tmp_path, FakeClock(0), lambda s: None) for message in batch]
    assert len(news) == info_of(newest).messages


def test_following_gives_up_a_file_that_does_not_grow(tmp_path: Path) -> None:
    """B37: a recorder that was killed closes nothing; the view does not wait for ever."""
    folder = made.record(tmp_path, ticks=300, replans=1)
    file = data_file(folder)
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    clock = FakeClock(0)
    batches = 0
    for _ in follow(folder, clock, lambda seconds: clock.advance(int(seconds * 1e9))):
        batches += 1
    assert batches == pytest.approx(SILENT_NS / 1e8, abs=2)


def test_where_nothing_is_recorded_following_says_so(tmp_path: Path) -> None:
    with pytest.raises(EpisodeError, match="--record"):
        next(follow(tmp_path, FakeClock(0), lambda s: None))


def test_without_rerun_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(ConfigurationError, match=r"rerun-sdk.*\[view\]"):
        Screen("x", tmp_path / "x.rrd").open()


def test_without_a_display_a_file_is_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match=r"--save FILE\.rrd"):
        Screen("x", None).open()


def test_rerun_is_loaded_only_when_a_screen_is_opened() -> None:
    code = (
        "import sys, robot_client.episodes.view.command, robot_client.episodes.command; print('rerun' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
