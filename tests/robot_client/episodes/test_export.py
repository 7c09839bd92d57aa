"""Episodes as a LeRobot v3 dataset: what was measured, told and seen, at the times it says."""

from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pytest

from contract.errors import EpisodeError
from contract.layout import CHANNELS
from robot_client.episodes.cameras import CameraWatch
from robot_client.episodes.formats.bag_source import BagSource
from robot_client.episodes.samples import Sampler
from tests.robot_client.episodes import made
from tests.robot_client.episodes.test_cameras import Cameras
from tests.robot_client.stage import STATION

pytest.importorskip("pyarrow", reason="the export needs pyarrow")
import pyarrow.parquet as pq

from robot_client.episodes.export import export_lerobot


def recorded(directory: Path, ticks: int, last_word: bool = True) -> Path:
    """Ticks in POLICY and frames of all cameras."""
    recording = made.Recording(directory)
    watch = CameraWatch(Cameras(recording), STATION.cameras, made.TIME, recording.bag.add, recording.clock.now_ns())
    recording.recorder._cameras = watch
    for _ in range(ticks // 5):
        recording.ticks(5)
    recording.close(last_word)
    return recording.folder


def values(folder: Path, column: str) -> np.ndarray:
    return np.array(pq.read_table(folder)[column].to_pylist())


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("export")
    for ticks in (200, 300):
        recorded(root / "episodes", ticks)
    said: list[str] = []
    total = export_lerobot([root / "episodes"], root / "dataset", 0.0, False, said.append)
    assert len(said) == 2 and total in range(46, 51)
    return root / "dataset"


def test_the_dataset_says_what_it_is(dataset: Path) -> None:
    info = json.loads((dataset / "meta" / "info.json").read_text())
    assert info["codebase_version"] == "v3.0" and info["fps"] == 10
    assert info["features"]["action"]["names"] == list(CHANNELS)
    assert {name for name in info["features"] if "images" in name} == {f"observation.images.{r}" for r in made.ROLES}
    assert info["total_frames"] == sum(values(dataset / "meta" / "episodes", "length"))
    tasks = pq.read_table(dataset / "meta" / "tasks.parquet")
    assert tasks.to_pylist() == [{"task_index": 0, "task": "go"}]
    pandas = json.loads(tasks.schema.metadata[b"pandas"])
    assert pandas["index_columns"] == ["task"], "LeRobot finds a task by the index of the frame"
    assert {column["field_name"] for column in pandas["columns"]} == {"task", "task_index"}


def test_rows_are_what_was_measured_and_told_then(dataset: Path) -> None:
    """B40: the action is what the arms were told, not what the policy asked for."""
    episode = values(dataset / "data", "episode_index")
    for number in (0, 1):
        state, action = (values(dataset / "data", name)[episode == number] for name in ("observation.state", "action"))
        assert len(state) >= 15
        ticks = [made.tick(n) for n in range(300)]
        told = np.array([tick.told for tick in ticks], np.float32)
        nearest = np.abs(told[None, :, 0] - action[:, None, 0]).argmin(axis=1)
        np.testing.assert_array_equal(action, told[nearest])
        np.testing.assert_allclose(np.diff(nearest), 10, atol=1)
        np.testing.assert_allclose(state, action - 0.01, atol=3e-3)
    assert (np.diff(values(dataset / "data", "index")) == 1).all()
    times = values(dataset / "data", "timestamp")[episode == 1]
    np.testing.assert_allclose(np.diff(times), 0.1, atol=1e-6)


def test_each_video_has_the_frames_of_its_episode(dataset: Path) -> None:
    """B38: later episodes are not mapped to the wrong video."""
    rows = pq.read_table(dataset / "meta" / "episodes").to_pylist()
    for row in rows:
        key = "observation.images.top"
        place = f"chunk-{row[f'videos/{key}/chunk_index']:03d}/file-{row[f'videos/{key}/file_index']:03d}.mp4"
        with av.open(str(dataset / "videos" / key / place)) as container:
            shades = [frame.to_ndarray(format="rgb24").mean() for frame in container.decode(video=0)]
        assert len(shades) == row["length"]
        np.testing.assert_allclose(np.diff(shades), 1.0, atol=1.1)
        assert shades[-1] - shades[0] == pytest.approx(row["length"] - 1, abs=3)


def test_samples_stop_where_nobody_drives_the_arms(tmp_path: Path) -> None:
    folder = made.record(tmp_path, ticks=100, replans=0)
    assert not list(Sampler(BagSource(folder), made.ROLES, 10.0).samples()), "no camera gave a frame"
    assert len(list(Sampler(BagSource(folder), [], 10.0).samples())) in (9, 10)


def test_an_incomplete_episode_is_refused_unless_wanted(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "episodes", 100, last_word=False)
    with pytest.raises(EpisodeError, match="complete"):
        export_lerobot([folder], tmp_path / "dataset", 0.0, False, print)
    assert export_lerobot([folder], tmp_path / "dataset", 0.0, True, print) > 0


def test_nothing_that_exists_is_written_into(dataset: Path) -> None:
    with pytest.raises(EpisodeError, match="new folder"):
        export_lerobot([dataset.parent / "episodes"], dataset, 0.0, False, print)
