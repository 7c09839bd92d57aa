"""The in-process evaluation acts as the real server and the real client do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contract.types import ActionChunk, Observation
from policy_server.policy import Policy
from robot_client.chunk_buffer import ChunkBuffer
from robot_client.episodes.policy_server import SESSION, linked, roles_of, serving
from robot_client.link.policy_link import PolicyLink
from robot_client.twin.cameras import Size
from robot_client.twin.tasks import Task
from robot_client.twin.twin import Twin, make_twin
from training.evaluate import rollout
from training.evaluate.client_rollout import SimulatedClient
from training.evaluate.suite import Trial

BUNDLE = Path(__file__).resolve().parents[2] / "bundles/trained-gate"
TRIAL = Trial("id", Task("red cube", "box"), 1000)
ROWS = 24
TICK_NS, STEP_NS = 10_000_000, 100_000_000


@pytest.fixture(scope="module")
def policy() -> Iterator[Policy]:
    made = Policy.load(BUNDLE, threads=1)
    yield made
    made.close()


@pytest.fixture(scope="module")
def scene(policy: Policy) -> Iterator[Twin]:
    made = make_twin({view.role: Size(view.width, view.height) for view in policy.manifest.canvas.views})
    yield made
    made.close()


class Noted:
    """A policy that remembers what it was asked and what it said."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.asked: list[tuple[Observation, ActionChunk]] = []

    def replan(self, question: Observation, elapsed_ns) -> ActionChunk:
        self.asked.append((question, self._policy.replan(question, elapsed_ns)))
        return self.asked[-1][1]


@pytest.fixture(scope="module")
def episode(policy: Policy, scene: Twin) -> dict[str, list[tuple[Observation, ActionChunk]]]:
    """The questions and answers of one in-process episode for each kind of guidance."""
    told = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rollout, "MOST_ROWS", ROWS)
        for guidance in ("off", "constant", "adaptive"):
            noted = Noted(policy)
            rollout.run_trial(noted, scene, TRIAL, guidance)  # type: ignore[arg-type]
            told[guidance] = noted.asked
    return told


@pytest.fixture(scope="module")
def link(episode: dict, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolicyLink]:
    """A session with `yam-policy serve`."""
    roles = roles_of(episode["off"][0][0])
    with serving("", BUNDLE, 1, tmp_path_factory.mktemp("logs")) as address, linked(address, roles) as (made, _):
        yield made


def over_the_wire(link: PolicyLink, question: Observation) -> ActionChunk:
    # Without a time budget: on a busy machine the server would leave out branches, and say so.
    answer = link.wait_for(link.submit(replace(question, session=SESSION, budget_ns=0), 60_000.0))
    assert isinstance(answer, ActionChunk)
    return answer


@pytest.mark.parametrize("guidance", ["off", "constant", "adaptive"])
def test_the_server_answers_the_episode_to_the_bit(episode: dict, link: PolicyLink, guidance: str) -> None:
    asked = episode[guidance]
    assert len(asked) == ROWS // rollout.EXECUTE_ROWS
    for question, chunk in asked:
        served = over_the_wire(link, question)
        np.testing.assert_array_equal(served.rows, chunk.rows)
        assert served.temporal_ratio.value == chunk.temporal_ratio.value
        assert served.scales == chunk.scales and served.branches_run == chunk.branches_run
    assert any(not np.array_equal(asked[0][1].rows, other[1].rows) for other in asked[1:])


def test_the_client_tells_the_arms_the_same_over_the_wire_as_in_process(
    policy: Policy, scene: Twin, link: PolicyLink
) -> None:
    """Real loop, chunk buffer, safety and planner on a clock of ticks; once with the server, once without."""
    courses = []
    for answer in (lambda asked: policy.replan(asked, lambda: 0), lambda asked: over_the_wire(link, asked)):
        client = SimulatedClient(scene, policy.info("READY"), answer, guidance="adaptive")
        client.run(TRIAL, seconds=2.5)
        assert "POLICY" in client.modes and len(client.chunks) >= 4
        courses.append(client.told)
    np.testing.assert_array_equal(*courses)
    assert np.ptp(courses[0], axis=0).max() > 0.2


def test_the_clients_chunk_buffer_runs_the_rows_that_the_evaluation_executes(
    episode: dict, policy: Policy, scene: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same chunks through the client's chunk buffer, asked anew every eight rows: the same target at every tick.

    Only the way to row 0 differs: the client fades into it from where the arms are, the evaluation goes straight.
    """
    scene.reset(TRIAL.seed, TRIAL.task)
    followed: list[np.ndarray] = []
    follow = scene.world.follow
    monkeypatch.setattr(scene.world, "follow", lambda target: (followed.append(np.array(target)), follow(target))[1])
    monkeypatch.setattr(rollout, "MOST_ROWS", ROWS)
    rollout.run_trial(policy, scene, TRIAL, "off")
    head = policy.manifest.head
    buffer, targets = ChunkBuffer(STEP_NS, head.horizon, head.max_prefix), []
    chunks = iter(chunk for _, chunk in episode["off"])
    for tick in range(ROWS * 10):
        if tick % (10 * rollout.EXECUTE_ROWS) == 0:
            commitment, chunk = buffer.commit(tick * TICK_NS, 0), next(chunks)
            assert commitment.first_row == chunk.first_row
            entry = buffer.accept(replace(chunk, sequence=commitment.sequence), tick * TICK_NS)
            assert entry.refusal is None, entry.detail
        target = buffer.target((tick + 1) * TICK_NS)
        assert target is not None
        targets.append(target.values)
    followed = followed[-len(targets) :]
    assert len(followed) == len(targets) == 10 * ROWS
    np.testing.assert_allclose(np.array(targets[9:]), np.array(followed[9:]), rtol=0, atol=1e-12)
