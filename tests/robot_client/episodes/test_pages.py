"""Pages about episodes: everything in one file, the film shows what was seen beside what was imagined for that time."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import av
import numpy as np
import pytest

from contract.errors import EpisodeError
from robot_client.demo.film import CAPTION_PX
from robot_client.episodes.filmed import HEIGHT_PX, IMAGINED_PX, WIDTH_PX, composed
from robot_client.episodes.imagined import ImaginedReel
from robot_client.episodes.policy_page import write_policy_page
from robot_client.episodes.policy_replay import Compared
from robot_client.episodes.policy_report import PolicyReport, Tolerance
from robot_client.episodes.report_command import run_report
from tests.robot_client.episodes import made
from tests.robot_client.episodes.foreign import peer
from tests.robot_client.episodes.test_topics import STEP_NS, full_recording
from tests.robot_client.stage import STATION

pytestmark = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="pages need matplotlib")


def outside_links(page: str) -> list[str]:
    return re.findall(r"""(?:src|href)=["'](?!data:|#)([^"']+)""", page)


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("report")
    run_report(full_recording(root / "episodes", "h264"), root / "out" / "report.html", lambda line: None)
    return root / "out"


def test_the_page_has_all_in_itself(reported: Path) -> None:
    page = (reported / "report.html").read_text()
    assert "<video" in page and page.count("<svg") >= 4 and not outside_links(page)
    assert "Episode: go" in page and "INCOMPLETE" not in page


def test_the_film_shows_both_at_the_same_time(reported: Path) -> None:
    """Left the cameras (their shade counts frames), right the imagined frame (shades of 40) for that very time."""
    with av.open(str(reported / "report.mp4")) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert 28 <= len(frames) <= 31 and frames[0].shape == (HEIGHT_PX * 3 // 2 + CAPTION_PX, WIDTH_PX + IMAGINED_PX, 3)
    shades = [frame[100:200, 100:200].mean() for frame in frames]
    per_frame = STATION.cameras[0].rate_hz / 10
    np.testing.assert_allclose(np.array(shades) - shades[0], per_frame * np.arange(len(shades)), atol=3)
    imagined = np.array([frame[60:100, WIDTH_PX + 40 : WIDTH_PX + 80].mean() for frame in frames])
    steps = np.minimum((np.arange(len(frames)) - 1) // 2, 3)
    off = np.abs(imagined - 40 * np.maximum(steps, 0))
    assert (off[2:] < 8).sum() >= len(frames) - 7, "a film frame at the edge of a step may show its neighbour"
    assert set(np.round(imagined[2:] / 40)) >= {1.0, 2.0, 3.0}


def test_an_imagined_frame_is_that_for_the_time_asked(tmp_path: Path) -> None:
    reel = ImaginedReel()
    reel.read(full_recording(tmp_path, "jpeg"))
    start_ns = made.OFFSET_NS + made.START_NS
    assert reel.at(start_ns - 1) is None
    for step in range(6):
        frame = reel.at(start_ns + step * STEP_NS + 1)
        assert frame is not None and frame.mean() == pytest.approx(40 * min(step, 3), abs=2)


def test_an_episode_of_another_layout_has_a_page_without_what_nobody_recorded(tmp_path: Path) -> None:
    said: list[str] = []
    folder = peer(tmp_path / "ep")
    (folder / "write_complete.flag").unlink()
    run_report(folder, tmp_path / "report.html", said.append)
    page = (tmp_path / "report.html").read_text()
    assert "Episode: fold it" in page and "INCOMPLETE: write_complete.flag" in page and "<video" in page
    assert "tick lateness" not in page and "left_joint1" in page


def test_without_cameras_there_is_a_page_and_it_is_said_that_there_is_no_film(tmp_path: Path) -> None:
    said: list[str] = []
    run_report(made.record(tmp_path / "episodes"), tmp_path / "report.html", said.append)
    assert "no film" in said[-1] and "<video" not in (tmp_path / "report.html").read_text()


def test_where_nothing_can_be_written_it_is_one_line(tmp_path: Path) -> None:
    folder = made.record(tmp_path / "episodes")
    (tmp_path / "file").touch()
    with pytest.raises(EpisodeError, match="another"):
        run_report(folder, tmp_path / "file" / "report.html", print)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_any_number_of_cameras_fits_the_film(count: int) -> None:
    images = {str(i): np.full((30 + i, 40, 3), 50, np.uint8) for i in range(count)}
    assert composed(images).shape == (HEIGHT_PX * 3 // 2, WIDTH_PX, 3)


def compared(row: int, off: float, trouble: str = "") -> Compared:
    return Compared(f"s/3/{row}", row, off, 1.5, 1.5 + off, off, ("full",), ("full", "noplan"), off == 0.0, trouble)


def test_the_replay_page_has_a_row_and_a_point_for_each_replan(tmp_path: Path) -> None:
    replans = [compared(0, 0.0), compared(4, 1e-7), compared(8, 1e-3), compared(12, float("nan"), "no <answer>")]
    report = PolicyReport(replans, Tolerance(1e-5, 1e-4), "engine a", "engine b")
    write_policy_page(tmp_path / "p.html", report, "ep")
    page = (tmp_path / "p.html").read_text()
    assert page.count("<tr>") == 1 + len(replans) and not outside_links(page) and "<svg" in page
    assert "2 of 4 replans are outside the tolerance" in page and "no &lt;answer&gt;" in page
    assert page.count(">equal<") == page.count(">within<") == page.count(">OUTSIDE<") == 1


def test_a_replay_that_compared_nothing_is_no_success_on_its_page(tmp_path: Path) -> None:
    write_policy_page(tmp_path / "p.html", PolicyReport([], Tolerance(1e-5, 1e-4), "a", "b"), "ep")
    assert "NOTHING WAS COMPARED" in (tmp_path / "p.html").read_text()
