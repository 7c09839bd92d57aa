"""One recorded run of the twin, kept: it reads, it moved, and the shipped policy still answers its questions alike.

`make refs` accepts the answers of a new policy. An episode of another camera size or contract is recorded anew, see
docs/episodes.md.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from robot_client.demo.command import default_bundle
from robot_client.episodes.course import course_of
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.info import info_of
from robot_client.episodes.policy_command import PolicyReplaySettings, run_policy_replay
from robot_client.episodes.policy_report import Tolerance
from robot_client.episodes.reader import BagReader
from robot_client.episodes.references import read_references
from robot_client.episodes.replans import ReplanReader

HERE = Path(__file__).parent / "reference"
EPISODE, ANSWERS = HERE / "episode", HERE / "answers.json"
TOLERANCE = Tolerance(rows=2e-3, tr=1e-2)
"""Between processors; the same machine is equal to the bit."""


def test_the_kept_episode_reached_policy_and_moved() -> None:
    """A regression test on a run in which nothing happened would pass whatever the policy says."""
    assert info_of(EPISODE).complete
    decode = Decoder()
    modes = [json.loads(decode(message).data)["mode"] for message in BagReader(EPISODE).messages(["/mode"])]
    assert "POLICY" in modes
    assert np.ptp(course_of(EPISODE).values, axis=0).max() > 0.1
    replans = list(ReplanReader(BagReader(EPISODE)).replans())
    answered = [replan.answered for replan in replans if replan.answered is not None]
    assert len(answered) >= 5
    assert all(answer.tr_value > 0.0 for answer in answered)
    assert max(len(answer.branches_run) for answer in answered) > 1, "guidance ran"
    assert max(len(replan.observation.prefix) for replan in replans) > 0, "rows were committed"


@pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="the shipped policy needs onnxruntime")
def test_the_shipped_policy_answers_as_accepted(tmp_path: Path) -> None:
    weights, _ = read_references(ANSWERS)
    out = tmp_path / "policy.json"
    settings = PolicyReplaySettings(
        path=EPISODE,
        server="",
        bundle=default_bundle(),
        threads=1,
        tolerance=TOLERANCE,
        guidance=None,
        references=ANSWERS,
        accepts=False,
        out=out,
    )
    code = run_policy_replay(settings, Console(quiet=True))
    content = json.loads(out.read_text())
    if weights[:12] not in content["now"]:
        pytest.fail(f"accepted were the answers of weights {weights[:12]}, served is {content['now']}: run `make refs`")
    assert code == 0, [one for one in content["compared"] if not one["equal"]]
    assert content["replans"] >= 5
