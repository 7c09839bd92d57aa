"""The whole circle, as small as it gets: record episodes on the twin, LeRobot, train, export, serve, run on the twin.

`make circle` does it with 20 episodes, a minute of training, and real processes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from contract.types import ActionChunk, Observation
from policy_server.model.checkpoint import load_checkpoint
from policy_server.model.policy import sample_chunk
from policy_server.model.video import tap
from policy_server.noise import Noise
from robot_client.twin import gl
from robot_client.twin.tasks import Task
from training.data.settings import TRAIN_SEEDS_FROM
from training.data.shard import read_shard
from training.run import Run
from training.start import train

from .conftest import toy

TASKS = (Task("green cylinder", "bin"), Task("blue ball", "bin"), Task("red cube", "box"))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Three episodes through LeRobot, four steps, one export: (checkpoint, bundle)."""
    gl.choose()
    from policy_server.model import presets
    from robot_client.episodes.export import export_lerobot
    from robot_client.twin.cameras import Size
    from robot_client.twin.twin import make_twin
    from training.data.episodes import record_episode
    from training.data.imported import import_episodes
    from training.publish import publish
    from training.run import ActionLoss, Optimisation

    folder = tmp_path_factory.mktemp("circle")
    twin = make_twin({view.role: Size(view.width, view.height) for view in toy().canvas.views})
    for i, task in enumerate(TASKS):
        assert record_episode(twin, TRAIN_SEEDS_FROM + i, task, folder / "episodes" / f"episode_{i:06d}")
    twin.close()
    export_lerobot([folder / "episodes"], folder / "dataset", 10.0, False, lambda line: None)
    run = Run(
        name="circle", stage="action", data=(folder / "data",), size="toy",
        optimisation=Optimisation(steps=4, batch=4), action=ActionLoss(joint_share=0.5, joint_batch=6, draws=2),
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(presets.PRESETS, "toy", toy)
        import_episodes([folder / "dataset"], folder / "data", "toy", say=lambda line: None)
        checkpoint = train(run, folder / "run", "yam-train run circle.toml", lambda line: None)
    publish(checkpoint, folder / "bundle", lambda line: None)
    return checkpoint, folder / "bundle"


def test_a_demonstration_has_the_rows_of_a_whole_pick_and_place(bundle: tuple[Path, Path]) -> None:
    shard = read_shard(bundle[0].parents[1] / "data" / "shard-0000")
    assert len(shard.episodes) == len(TASKS)
    for entry, task in zip(shard.episodes, TASKS, strict=True):
        assert (entry.object, entry.receptacle, entry.instruction) == (task.object, task.receptacle, task.instruction)
        assert 30 < entry.working <= entry.length
        joints = shard.joints[entry.start : entry.start + entry.working]
        assert np.ptp(joints, axis=0).max() > 0.5


def test_the_trained_bundle_is_served_and_moves_the_arms_as_policy(bundle: tuple[Path, Path], tmp_path: Path) -> None:
    """The server is a process of its own; the client's loop, planner and safety run on the twin's time."""
    gl.choose()
    from robot_client.episodes.policy_server import SESSION, linked, serving
    from robot_client.twin.cameras import Size
    from robot_client.twin.twin import make_twin
    from training.evaluate.client_rollout import SimulatedClient
    from training.evaluate.suite import Trial

    views = toy().canvas.views
    twin = make_twin({view.role: Size(view.width, view.height) for view in views})
    roles = frozenset(view.role for view in views)
    with serving("", bundle[1], 1, tmp_path) as address, linked(address, roles) as (link, info):

        def answer(asked: Observation) -> ActionChunk:
            given = link.wait_for(link.submit(replace(asked, session=SESSION, budget_ns=0), 60_000.0))
            assert isinstance(given, ActionChunk)
            return given

        client = SimulatedClient(twin, info, answer)
        client.run(Trial("id", TASKS[0], 5), seconds=2.0)
    twin.close()
    assert info.trained and info.model_id == "toy-circle"
    assert "POLICY" in client.modes and len(client.chunks) >= 3
    assert np.ptp(client.told, axis=0).max() > 0.02


def test_the_served_bundle_gives_the_rows_of_the_trained_torch_model(bundle: tuple[Path, Path]) -> None:
    gl.choose()
    from training.evaluate.evaluation import Evaluation
    from training.evaluate.rollout import observation
    from training.evaluate.subject import open_subject
    from training.evaluate.suite import Trial
    from training.normaliser import BatchNormaliser

    checkpoint, folder = bundle
    evaluation = Evaluation(open_subject(folder), rotation=0, say=lambda line: None)
    trial = Trial("id", TASKS[0], 3)
    evaluation.twin.reset(trial.seed, trial.task)
    question = observation(evaluation.twin, trial, 0, np.zeros((0, 14)), "off")
    served = evaluation.policy("kept").replan(question, lambda: 0)

    loaded = load_checkpoint(checkpoint)
    model, config = loaded.model, loaded.config
    noise = Noise(question.seed)
    video = torch.from_numpy(noise.draw((config.latent.channels, config.latent.frames - 1, *config.latent_size)))
    action = torch.from_numpy(noise.draw((config.head.horizon, 14)))
    canvas = np.zeros((1, config.canvas.height, config.canvas.width, 3), np.uint8)
    for view in config.canvas.views:
        place = canvas[0, view.top : view.top + view.height, view.left : view.left + view.width]
        place[:] = question.images[view.role]
    tokens = torch.zeros(1, config.text.length, dtype=torch.int64)
    said = [config.text.vocabulary.index(word) + 1 for word in trial.task.instruction.split()]
    tokens[0, : len(said)] = torch.tensor(said)
    joints = torch.from_numpy(question.joints)[None]
    normal = BatchNormaliser(loaded.card.state, loaded.card.action)
    with torch.no_grad():
        text = model.instruction(tokens)
        features = tap(model.backbone, model.latent.encode(torch.from_numpy(canvas)), video[None], text)
        context = model.head.context(features, text, normal.state(joints), torch.ones(1))
        rows = sample_chunk(model, context, action[None], torch.zeros(1, 0, 14), config.head.flow_steps)
    wanted = rows[0]
    given = normal.rows(torch.from_numpy(served.rows)[None], joints)[0]
    np.testing.assert_allclose(given.numpy(), wanted.numpy(), atol=1e-4)
    evaluation.close()


def test_masking_and_swapping_the_future_reach_the_head_and_nothing_else(bundle: tuple[Path, Path]) -> None:
    gl.choose()
    from training.evaluate.evaluation import Evaluation
    from training.evaluate.futures import FUTURES
    from training.evaluate.rollout import observation
    from training.evaluate.subject import open_subject
    from training.evaluate.suite import Trial

    evaluation = Evaluation(open_subject(bundle[1]), rotation=0, say=lambda line: None)
    trial = Trial("id", TASKS[0], 4)
    evaluation.twin.reset(trial.seed, trial.task)
    question = observation(evaluation.twin, trial, 0, np.zeros((0, 14)), "off")
    bank = evaluation._bank
    bank.start("put the red cube on the plate", 0)
    futures = np.random.default_rng(0).normal(size=(2, 1, 480, 16)).astype(np.float32)
    bank.collect({"features": futures[0]})
    bank.start(trial.task.instruction, 1)
    bank.collect({"features": futures[1]})
    evaluation._banked = True
    bank.start(trial.task.instruction, trial.seed)
    answers = {future: evaluation.policy(future).replan(question, lambda: 0) for future in FUTURES}
    assert answers["masked"].temporal_ratio.value == 0.0
    assert answers["kept"].temporal_ratio.value > 0.0
    assert not np.array_equal(answers["kept"].rows, answers["masked"].rows)
    assert not np.array_equal(answers["kept"].rows, answers["swapped"].rows)
    assert not np.array_equal(answers["swapped"].rows, answers["moved"].rows)
    assert np.array_equal(answers["kept"].rows, answers["reworded"].rows), "nothing else was said yet"
    evaluation._reworded.say("put the yellow brick in the bin")
    reworded = evaluation.policy("reworded").replan(question, lambda: 0)
    assert not np.array_equal(answers["kept"].rows, reworded.rows)
    evaluation.close()


def test_outcomes_are_written_once_and_read_back(bundle: tuple[Path, Path], tmp_path: Path) -> None:
    gl.choose()
    from training.evaluate import rollout
    from training.evaluate.evaluation import Evaluation
    from training.evaluate.subject import open_subject
    from training.evaluate.suite import trials

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rollout, "MOST_ROWS", 16)
        evaluation = Evaluation(open_subject(bundle[1]), rotation=0, say=lambda line: None)
        chosen = trials(0, 1, 0)[:2]
        first = evaluation.run("masked", chosen, tmp_path / "o.jsonl")
        again = evaluation.run("masked", chosen, tmp_path / "o.jsonl")
        evaluation._bank.start("another", 0)
        evaluation._bank.collect({"features": np.random.default_rng(0).normal(size=(1, 480, 16))})
        evaluation._banked = True
        probed = evaluation.run("kept", chosen[:1], tmp_path / "p.jsonl", probe=True)
    assert first == again and len(first) == 2 and "mask_effect" not in first[0]
    assert len(probed[0]["mask_effect"]) == len(probed[0]["swap_effect"]) == 2
    assert min(probed[0]["mask_effect"] + probed[0]["swap_effect"]) > 0.0
    assert all(one["rows"] == 16 and len(one["ratios"]) == 2 for one in first)
    evaluation.close()


def test_a_demonstration_may_start_with_the_hand_anywhere_and_still_ends_with_the_task_done() -> None:
    gl.choose()
    from robot_client.twin.cameras import Size
    from robot_client.twin.twin import make_twin
    from training.data.recorder import record
    from training.data.scatter import start_anywhere

    twin = make_twin({view.role: Size(view.width, view.height) for view in toy().canvas.views})
    layout = twin.reset(TRAIN_SEEDS_FROM, TASKS[0])
    parked = twin.world.tool_position(layout.arm)
    start_anywhere(twin, np.random.default_rng(0))
    assert np.linalg.norm(twin.world.tool_position(layout.arm) - parked) > 0.05
    made = record(twin, toy().canvas, TRAIN_SEEDS_FROM, TASKS[0], 0.0, stride=4, anywhere=True)
    twin.close()
    assert made is not None
    assert made.entry.frames == len(made.frames) < made.entry.length
