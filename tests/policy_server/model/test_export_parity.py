from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray

from contract.errors import BundleError, EngineError
from policy_server.bundle import load_bundle
from policy_server.engines.base import GRAPHS, Engine
from policy_server.engines.onnxruntime_engine import OnnxRuntimeEngine
from policy_server.engines.torch_engine import TorchEngine
from policy_server.export.bare_head import export_head_without_masses
from policy_server.export.bundle import export_bundle
from policy_server.export.onnx_graph import to_onnx
from policy_server.model.config import LatentConfig
from policy_server.model.graphs import Graph, GraphModule, examples, graphs_of
from policy_server.model.latent import build_latent_encoder
from policy_server.model.policy import VideoActionModel, sample_chunk
from policy_server.model.untrained import untrained_model
from tests.policy_server.model.nano import nano

TOLERANCE = 1e-4


def feeds(model: VideoActionModel, batch: int, seed: int) -> dict[str, NDArray]:
    """Varied inputs for every graph: noise levels 0.1 .. 1 and clean rows, kept and masked futures, real words."""
    rng = np.random.default_rng(seed)
    pool: dict[str, NDArray] = {}
    for name, example in examples(model.config, batch).items():
        shape = tuple(example.shape)
        if example.dtype == torch.uint8:
            pool[name] = rng.integers(0, 256, shape, np.uint8)
        elif example.dtype == torch.int64:
            pool[name] = rng.integers(0, 1 + len(model.config.text.vocabulary), shape)
        else:
            pool[name] = rng.standard_normal(shape, np.float32)
    pool["timesteps"] = rng.uniform(0.0, 1.0, pool["timesteps"].shape).astype(np.float32)
    pool["times"] = rng.uniform(0.1, 1.0, pool["times"].shape).astype(np.float32)
    pool["times"][:, : seed % 3] = 0.0
    pool["future_keep"] = (rng.random(batch) < 0.5).astype(np.float32)
    return pool


def compare(model: VideoActionModel, reference: TorchEngine, engine: Engine, batch: int, seed: int) -> None:
    """Run every graph on both engines; each feeds the next with the reference's outputs."""
    pool = feeds(model, batch, seed)
    for name in reference.graphs:
        given = {key: pool["clip" if (name, key) == ("decode", "latent") else key] for key in reference.inputs(name)}
        expected, got = reference.run(name, given), engine.run(name, given)
        assert set(expected) == set(got) == set(engine.outputs(name))
        for key, value in expected.items():
            assert got[key].shape == value.shape
            assert got[key].dtype == value.dtype
            limit = 1 if value.dtype == np.uint8 else TOLERANCE
            error = np.abs(got[key].astype(np.float64) - value).max()
            assert error <= limit, f"{name}.{key}: {error}"
        if name != "encode":
            pool.update(expected)


@pytest.mark.parametrize("batch", [1, 3])
def test_every_graph_of_an_export_gives_what_torch_gives(
    nano_model: VideoActionModel, nano_checkpoint: Path, nano_bundle: Path, batch: int
) -> None:
    reference = TorchEngine.load(nano_checkpoint)
    engine = OnnxRuntimeEngine.load(load_bundle(nano_bundle), threads=1)
    assert set(reference.graphs) == set(engine.graphs) == set(GRAPHS)
    for seed in range(5):
        compare(nano_model, reference, engine, batch, seed)


def test_the_head_without_masses_moves_the_same(
    nano_model: VideoActionModel, nano_checkpoint: Path, tmp_path: Path
) -> None:
    export_head_without_masses(nano_checkpoint, tmp_path)
    pool = feeds(nano_model, 2, 0)
    expected = TorchEngine.load(nano_checkpoint)
    whole = {**pool, **expected.run("context", pool)}
    bare = {**pool, **run_file(tmp_path / "context.onnx", pool)}
    assert "masses" not in bare
    moved = run_file(tmp_path / "action_step.onnx", bare)
    assert set(moved) == {"velocity"}
    np.testing.assert_allclose(moved["velocity"], expected.run("action_step", whole)["velocity"], atol=TOLERANCE)


def run_file(path: Path, pool: dict[str, NDArray]) -> dict[str, NDArray]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    values = session.run(None, {given.name: pool[given.name] for given in session.get_inputs()})
    return dict(zip((output.name for output in session.get_outputs()), values, strict=True))


def test_a_frame_causal_backbone_exports_too() -> None:
    model = untrained_model(3, nano(attention="frame_causal"))
    check_export(graphs_of(model)["video_tap"])


@torch.no_grad()
def test_the_encoder_of_cosmos_exports_too() -> None:
    torch.manual_seed(0)
    sizes = LatentConfig(kind="wan", channels=16, width=8, vae={"dim_mult": [1, 1, 1, 1], "num_res_blocks": 1})
    encoder = build_latent_encoder(sizes).eval()
    canvas = torch.randint(0, 256, (1, 32, 48, 3), dtype=torch.uint8)
    check_export(Graph("encode", GraphModule(encoder, encoder.encode), {"canvas": canvas}, ("latent",), False))


def check_export(graph: Graph) -> None:
    """ONNX Runtime on the exported bytes against the module itself."""
    session = onnxruntime.InferenceSession(to_onnx(graph).SerializeToString(), providers=["CPUExecutionProvider"])
    got = session.run(None, {name: value.numpy() for name, value in graph.inputs.items()})[0]
    with torch.no_grad():
        expected = graph.module(*graph.inputs.values())
    np.testing.assert_allclose(got, expected.numpy(), atol=TOLERANCE)


def test_the_torch_engine_samples_as_the_model_does(nano_model: VideoActionModel, nano_checkpoint: Path) -> None:
    engine = TorchEngine.load(nano_checkpoint)
    pool = {name: value.numpy() for name, value in examples(nano_model.config).items()}
    context = engine.run("context", pool)
    with torch.no_grad():
        one_step = sample_chunk(
            nano_model,
            tuple(torch.from_numpy(value) for value in context.values()),
            torch.from_numpy(pool["rows"]),
            torch.zeros(2, 0, 14),
            1,
        )
    times = np.ones((2, 6), np.float32)
    velocity = engine.run("action_step", {**pool, **context, "times": times})["velocity"]
    np.testing.assert_allclose(pool["rows"] - velocity, one_step.numpy(), atol=1e-5)


@pytest.mark.parametrize(
    ("graph", "name", "shape"),
    [
        ("encode", "canvas", (1, 480, 640, 3)),
        ("encode", "canvas", (1, 224, 224, 3)),
        ("encode", "canvas", (2, 32, 48, 3)),
        ("text", "tokens", (1, 9)),
        ("video_step", "latents", (1, 6, 4, 4, 6)),
        ("action_step", "rows", (1, 7, 14)),
    ],
)
def test_both_engines_refuse_a_size_that_was_not_exported(
    nano_model: VideoActionModel,
    nano_checkpoint: Path,
    nano_bundle: Path,
    graph: str,
    name: str,
    shape: tuple[int, ...],
) -> None:
    """B47: shapes outside what was exported failed late or gave nonsense."""
    pool = feeds(nano_model, 1, 0)
    reference = TorchEngine.load(nano_checkpoint)
    pool.update(reference.run("context", pool))
    given = {key: pool[key] for key in reference.inputs(graph)}
    given[name] = np.zeros(shape, given[name].dtype)
    for engine in (reference, OnnxRuntimeEngine.load(load_bundle(nano_bundle), threads=1)):
        with pytest.raises(EngineError):
            engine.run(graph, given)


def test_the_torch_engine_needs_a_checkpoint_which_a_bundle_may_carry(
    nano_checkpoint: Path, nano_bundle: Path, nano_model: VideoActionModel, tmp_path: Path
) -> None:
    with pytest.raises(BundleError, match="carry_checkpoint"):
        TorchEngine.load(nano_bundle)
    with pytest.raises(BundleError, match="no checkpoint"):
        TorchEngine.load(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("policy_server.export.bundle.write_graphs", lambda *arguments: None)
        export_bundle(nano_checkpoint, tmp_path / "bundle", carry_checkpoint=True)
    assert "checkpoint/weights.safetensors" in load_bundle(tmp_path / "bundle").manifest.files
    pool = feeds(nano_model, 1, 0)
    first, second = (TorchEngine.load(folder).run("encode", pool) for folder in (nano_checkpoint, tmp_path / "bundle"))
    assert np.array_equal(first["latent"], second["latent"])
