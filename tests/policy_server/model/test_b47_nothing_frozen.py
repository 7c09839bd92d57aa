"""B47: export froze what should vary: noise, number of steps, horizon, per-frame time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from policy_server.bundle import load_bundle
from policy_server.engines.onnxruntime_engine import OnnxRuntimeEngine
from policy_server.model.graphs import examples
from policy_server.model.policy import VideoActionModel, sample_chunk


@pytest.fixture(scope="module")
def engine(nano_bundle: Path) -> OnnxRuntimeEngine:
    return OnnxRuntimeEngine.load(load_bundle(nano_bundle), threads=1)


@pytest.fixture
def pool(nano_model: VideoActionModel) -> dict[str, NDArray]:
    return {name: value.numpy().copy() for name, value in examples(nano_model.config, 1).items()}


def context_of(engine: OnnxRuntimeEngine, pool: dict[str, NDArray]) -> dict[str, NDArray]:
    return engine.run("context", {name: pool[name] for name in engine.inputs("context")})


def chunk(
    engine: OnnxRuntimeEngine, context: dict[str, NDArray], noise: NDArray, prefix: NDArray, steps: int
) -> NDArray:
    """The host's Euler loop over the exported graph; prefix (P, 14) is written clean before each step."""
    rows, given = noise.copy(), len(prefix)
    needed = {name: value for name, value in context.items() if name in engine.inputs("action_step")}
    for step in range(steps):
        rows[:, :given] = prefix
        times = np.full(rows.shape[:2], 1 - step / steps, np.float32)
        times[:, :given] = 0
        velocity = engine.run("action_step", {"rows": rows, "times": times, **needed})["velocity"]
        rows = rows - velocity / np.float32(steps)
    rows[:, :given] = prefix
    return rows


def draw(seed: int) -> NDArray:
    return np.random.default_rng(seed).standard_normal((1, 6, 14), np.float32)


NO_PREFIX = np.zeros((0, 14), np.float32)


def test_another_noise_gives_another_chunk_and_the_same_noise_the_same_bits(engine, pool) -> None:
    context = context_of(engine, pool)
    first, again, other = (chunk(engine, context, draw(seed), NO_PREFIX, 5) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3


@pytest.mark.parametrize("steps", [1, 4, 10])
@pytest.mark.parametrize("given", [0, 1, 3])
def test_any_number_of_steps_and_any_prefix_match_the_reference(
    engine, pool, nano_model: VideoActionModel, steps: int, given: int
) -> None:
    context = context_of(engine, pool)
    prefix = draw(5)[0, :given]
    with torch.no_grad():
        expected = sample_chunk(
            nano_model,
            tuple(torch.from_numpy(context[name]) for name in nano_model.head.context_outputs),
            torch.from_numpy(draw(0)),
            torch.from_numpy(prefix[np.newaxis]),
            steps,
        ).numpy()
    np.testing.assert_allclose(chunk(engine, context, draw(0), prefix, steps), expected, atol=1e-4)


def test_the_number_of_steps_changes_the_chunk(engine, pool) -> None:
    context = context_of(engine, pool)
    chunks = [chunk(engine, context, draw(0), NO_PREFIX, steps) for steps in (1, 4, 10)]
    for i, a in enumerate(chunks):
        for b in chunks[i + 1 :]:
            assert np.abs(a - b).max() > 1e-4


def test_another_image_another_state_and_another_sentence_give_other_numbers(engine, pool) -> None:
    base = engine.run("encode", {"canvas": pool["canvas"]})["latent"]
    other = engine.run("encode", {"canvas": 255 - pool["canvas"]})["latent"]
    assert np.abs(base - other).max() > 0.1
    video = {name: pool[name] for name in ("latents", "timesteps", "text")}
    features = engine.run("video_tap", video)["features"]
    for name, value in (("latents", -pool["latents"]), ("text", np.zeros_like(pool["text"]))):
        assert np.abs(engine.run("video_tap", {**video, name: value})["features"] - features).max() > 1e-3
    before = chunk(engine, context_of(engine, pool), draw(0), NO_PREFIX, 4)
    after = chunk(engine, context_of(engine, {**pool, "state": -pool["state"]}), draw(0), NO_PREFIX, 4)
    assert np.abs(before - after).max() > 1e-3


def test_every_latent_frame_keeps_its_own_time_in_the_export(engine, pool) -> None:
    video = {name: pool[name] for name in ("latents", "text")}
    base = np.full((1, 3), 0.5, np.float32)
    before = engine.run("video_step", {**video, "timesteps": base})["velocity"]
    for frame in range(3):
        times = base.copy()
        times[:, frame] = 0.9
        after = engine.run("video_step", {**video, "timesteps": times})["velocity"]
        assert np.abs(after - before).max() > 1e-3


def test_every_row_keeps_its_own_time_in_the_export(engine, pool) -> None:
    context = {k: v for k, v in context_of(engine, pool).items() if k in engine.inputs("action_step")}
    feeds = {"rows": draw(0), "times": np.full((1, 6), 0.5, np.float32), **context}
    before = engine.run("action_step", feeds)["velocity"]
    for row in range(6):
        times = feeds["times"].copy()
        times[0, row] = 1.0
        after = engine.run("action_step", {**feeds, "times": times})["velocity"]
        assert np.abs(after - before)[0, row].max() > 1e-3


def test_the_null_instruction_is_all_zeros_in_the_export(engine, pool) -> None:
    assert not engine.run("text", {"tokens": np.zeros_like(pool["tokens"])})["text"].any()
    assert engine.run("text", {"tokens": np.ones_like(pool["tokens"])})["text"].any()


@pytest.mark.parametrize("branches", [1, 2, 3, 5])
def test_any_number_of_branches_runs_in_one_batch(engine, nano_model: VideoActionModel, branches: int) -> None:
    pool = {name: value.numpy() for name, value in examples(nano_model.config, branches).items()}
    for graph in ("text", "video_step", "video_tap", "context", "action_step"):
        outputs = engine.run(graph, {name: pool[name] for name in engine.inputs(graph)})
        assert all(len(value) == branches for value in outputs.values())
        pool.update(outputs)
