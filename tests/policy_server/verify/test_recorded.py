"""`yam-policy verify` with what a robot really asked: the observations of a recorded episode."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from contract.errors import ConfigurationError, EpisodeError, StackError
from policy_server.bundle import load_bundle
from policy_server.commands.verify import verify
from policy_server.engines.onnxruntime_engine import OnnxRuntimeEngine
from policy_server.policy import Policy
from policy_server.verify.recorded import recorded
from robot_client.episodes.questions import questions_of
from robot_client.episodes.reader import BagReader
from robot_client.episodes.replans import ReplanReader
from tests.policy_server.pipeline import bench

ROOT = Path(__file__).resolve().parents[3]
EPISODE = ROOT / "tests" / "robot_client" / "episodes" / "reference" / "episode"
TRAINED = ROOT / "bundles" / "trained-foresight"


@pytest.fixture(scope="module")
def policy() -> Policy:
    bundle = load_bundle(TRAINED)
    return Policy(bundle.manifest, OnnxRuntimeEngine.load(bundle, threads=1))


def test_recorded_questions_are_the_observations_of_the_episode(policy: Policy) -> None:
    asked = recorded(EPISODE, policy.info("READY"))
    logged = [replan.observation for replan in ReplanReader(BagReader(EPISODE)).replans()]
    assert len(asked) == len(logged) >= 5
    for question, observation in zip(asked, logged, strict=True):
        assert question.name == f"recorded, sequence {observation.sequence}"
        assert np.array_equal(question.observation.joints, observation.joints)
        assert all(
            np.array_equal(question.observation.images[role], observation.images[role]) for role in observation.images
        )
        assert question.observation.seed == observation.seed


@pytest.mark.parametrize("most", [1, 3])
def test_a_long_episode_gives_some_of_its_observations_evenly(most: int) -> None:
    every = [one.sequence for one in questions_of(EPISODE, 1000)]
    some = [one.sequence for one in questions_of(EPISODE, most)]
    assert 1 <= len(some) <= most and some[0] == every[0] and set(some) <= set(every)


def test_the_trained_policy_answers_them_as_its_unoptimised_graphs_do(capsys: pytest.CaptureFixture[str]) -> None:
    """The bundle carries no checkpoint, so the reference is ONNX Runtime with every node as it was written."""
    verify(TRAINED, "onnxruntime", None, None, EPISODE)
    said = capsys.readouterr().out
    assert "of them recorded" in said and "cpu-unoptimised" in said and "accepted" in said
    assert " 0 of them recorded" not in said


def test_an_observation_of_other_cameras_is_refused_by_name() -> None:
    with pytest.raises(StackError, match="image"):
        recorded(EPISODE, bench().policy.info("READY"))


def test_what_is_no_episode_is_one_line_from_both_sides(policy: Policy, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--episode"):
        recorded(tmp_path, policy.info("READY"))
    run = subprocess.run(
        [sys.executable, "-m", "robot_client.episodes.questions", tmp_path], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 1 and run.stdout == "" and len(run.stderr.strip().splitlines()) == 1
    with pytest.raises(EpisodeError):
        list(questions_of(tmp_path, 5))
