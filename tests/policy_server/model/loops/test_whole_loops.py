"""Whole loops against the pipeline's own steps: the same chunks, on tensors that stay where they are."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from contract.errors import EngineError
from contract.layout import SIZE
from contract.manifest import BundleManifest
from contract.types import ActionChunk, GuidanceScales, ImagineRequest, Observation
from policy_server.engines.loading import load_engine
from policy_server.engines.torch_captured import CapturedTorchEngine, captured_engine
from policy_server.engines.torch_engine import TorchEngine
from policy_server.export.manifest import manifest_of
from policy_server.model.card import PolicyCard
from policy_server.model.checkpoint import Checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.loops.board import make_board
from policy_server.model.loops.replan_loops import ReplanLoops
from policy_server.model.policy import VideoActionModel
from policy_server.model.presets import cosmos_2b, foresight
from policy_server.model.untrained import untrained_card, untrained_model
from policy_server.policy import Policy
from policy_server.warm_up import SETS
from tests.gpu import loops as gpu_loops
from tests.policy_server.model.nano import nano
from tests.policy_server.pipeline import ask, rows_like

EVERY = (GuidanceScales(0.0, 0.0), *(scales for _, scales in SETS), GuidanceScales(0.4, 1.7))
CONFIGS = {
    "flow_transformer": nano(),
    "fused": nano().model_copy(update={"head": nano().head.model_copy(update={"kernel": "fused"})}),
    "read_once": nano("read_once"),
    "no passes": nano(passes=0, sigma=1.0),
}


def made(config: ModelConfig) -> tuple[VideoActionModel, BundleManifest]:
    model = untrained_model(3, config)
    card: PolicyCard = untrained_card(config, 3, "twin", "a test")
    return model, manifest_of(Checkpoint(model, card), "fp32")


@pytest.fixture(params=CONFIGS)
def pair(request: pytest.FixtureRequest) -> tuple[Policy, Policy, CapturedTorchEngine]:
    """(whole loops, step by step, the engine of the first) over one model."""
    model, manifest = made(CONFIGS[request.param])
    engine = captured_engine(model, manifest)
    return Policy(manifest, engine), Policy(manifest, TorchEngine(model, "0" * 64)), engine


def questions(manifest: BundleManifest) -> list[Observation]:
    """Other pictures, seeds, instructions and prefixes each time."""
    state = np.array(manifest.state.offset, np.float32)
    return [
        ask(manifest, seed=3, instruction="put the red ball in the bowl"),
        ask(manifest, seed=4, prefix=rows_like(state, 1), instruction="put the blue cube in the box"),
        ask(manifest, seed=5, prefix=rows_like(state, 3), joints=state + 0.2),
    ]


def apart(ours: ActionChunk, theirs: ActionChunk) -> float:
    assert ours.branches_run == theirs.branches_run and ours.rows.shape == theirs.rows.shape
    assert ours.temporal_ratio.masses.shape == theirs.temporal_ratio.masses.shape
    masses = np.abs(ours.temporal_ratio.masses - theirs.temporal_ratio.masses).max()
    return max(float(np.abs(ours.rows - theirs.rows).max()), float(masses))


def test_whole_loops_answer_as_the_steps_do_for_every_number_of_branches(
    pair: tuple[Policy, Policy, CapturedTorchEngine],
) -> None:
    """B47 too: seed, prefix, instruction and scales are data of one and the same loop."""
    ours, theirs, _ = pair
    seen = []
    for asked, scales in itertools.product(questions(ours.manifest), EVERY):
        one, other = ours.replan_forced(asked, scales), theirs.replan_forced(asked, scales)
        assert apart(one, other) < 2e-6
        seen.append(one.rows[-1])
    assert len({row.tobytes() for row in seen}) == len(seen), "every question and every scale gave rows of its own"


@pytest.mark.parametrize("branches", [("full",), ("full", "noplan"), ("full", "nolang"), ("full", "nolang", "noplan")])
def test_branches_known_before_tr_run_in_one_video_batch_with_the_same_answer(
    pair: tuple[Policy, Policy, CapturedTorchEngine], branches: tuple[str, ...]
) -> None:
    ours, theirs, _ = pair
    asked = ask(ours.manifest, guidance="constant", branches=branches)
    one, other = (policy.replan(asked, lambda: 0) for policy in (ours, theirs))
    assert set(one.branches_run) == set(branches)
    assert apart(one, other) < 2e-6


def test_an_answer_is_the_same_to_the_bit_whatever_was_asked_between(
    pair: tuple[Policy, Policy, CapturedTorchEngine],
) -> None:
    """Tensors that stay keep the last replan's numbers; none of them may reach the next answer."""
    ours, _, _ = pair
    first, second, third = questions(ours.manifest)
    before = ours.replan_forced(first, EVERY[0])
    ours.replan_forced(second, EVERY[3])
    ours.replan_forced(third, EVERY[1])
    again = ours.replan_forced(first, EVERY[0])
    assert np.array_equal(before.rows, again.rows)
    assert np.array_equal(before.temporal_ratio.masses, again.temporal_ratio.masses)


def test_every_fixed_tensor_stays_where_it_is(pair: tuple[Policy, Policy, CapturedTorchEngine]) -> None:
    ours, _, engine = pair

    def places() -> dict[str, int]:
        board = engine.loops.board
        single = {name: getattr(board, name) for name in board.__slots__ if name != "context"}
        outputs = {f"{key}.{name}": t for key, fixed in engine._fixed.items() for name, t in fixed.outputs.items()}
        return {name: each.data_ptr() for name, each in {**single, **board.context, **outputs}.items()}

    ours.warm_up(1)
    before = places()
    for asked, scales in itertools.product(questions(ours.manifest), EVERY):
        ours.replan_forced(asked, scales)
    assert places() == before and len(before) > 15


def test_an_answer_given_is_not_written_over_by_the_next(pair: tuple[Policy, Policy, CapturedTorchEngine]) -> None:
    ours, _, _ = pair
    first, second, _ = questions(ours.manifest)
    one = ours.replan_forced(first, EVERY[0])
    kept = one.rows.copy(), one.temporal_ratio.masses.copy()
    ours.replan_forced(second, EVERY[0])
    assert np.array_equal(one.rows, kept[0]) and np.array_equal(one.temporal_ratio.masses, kept[1])


def test_imagination_and_replans_share_the_buffers_of_single_graphs() -> None:
    model, manifest = made(nano())
    ours, theirs = (
        Policy(manifest, captured_engine(model, manifest)),
        Policy(manifest, TorchEngine(model, "0" * 64)),
    )
    asked, _, third = questions(manifest)

    def between() -> None:
        ours.replan_forced(third, EVERY[3])

    frames = ours.imagine(ImagineRequest(asked, 2), between).frames.astype(int)
    assert np.abs(frames - theirs.imagine(ImagineRequest(asked, 2)).frames.astype(int)).max() <= 1


@pytest.mark.parametrize(
    ("spoil", "place"),
    [
        ("backbone.dit.proj_out", "video_step, step 0"),
        ("head.memory.state", "context"),
        ("head.out", "action_step, step 0"),
    ],
)
def test_what_is_not_finite_is_named_by_graph_and_step(spoil: str, place: str) -> None:
    """B23: no loop goes on silently, though nobody looks between its steps."""
    model, manifest = made(nano())
    model.get_submodule(spoil).bias = torch.nn.Parameter(torch.full_like(_bias(model, spoil), float("nan")))
    ours = Policy(manifest, captured_engine(model, manifest))
    with pytest.raises(EngineError, match=place) as error:
        ours.replan_forced(questions(manifest)[0], EVERY[0])
    assert "finite" in str(error.value)


def _bias(model: VideoActionModel, name: str) -> torch.Tensor:
    return torch.zeros(model.get_submodule(name).weight.shape[0])


def test_half_precision_loops_are_those_of_the_half_precision_graphs() -> None:
    """What a bundle in bf16 would answer step by step, the loops answer too: latents and rows stay in float32."""
    model, manifest = made(CONFIGS["fused"])
    narrow = manifest.model_copy(update={"precision": "bf16"})
    engine = captured_engine(model, narrow)
    ours, theirs = Policy(narrow, engine), Policy(narrow, _WithoutLoops(engine))
    for asked in questions(narrow):
        assert apart(ours.replan_forced(asked, EVERY[3]), theirs.replan_forced(asked, EVERY[3])) < 2e-2
    full = Policy(manifest, TorchEngine(model, "0" * 64))
    assert apart(ours.replan_forced(asked, EVERY[0]), full.replan_forced(asked, EVERY[0])) > 1e-4


class _WithoutLoops:
    """The same graphs, one at a time."""

    def __init__(self, engine: CapturedTorchEngine) -> None:
        self.id, self.runs_on, self.graphs = engine.id, engine.runs_on, engine.graphs
        self.inputs, self.outputs, self.run, self.close = engine.inputs, engine.outputs, engine.run, engine.close


def test_the_engine_is_refused_without_a_card(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a card")
    from policy_server.bundle import load_bundle

    bundle = load_bundle(Path(__file__).resolve().parents[4] / "bundles" / "trained-foresight")
    with pytest.raises(EngineError, match="no card"):
        load_engine("torch_cuda", bundle)


def test_errors_of_the_device_are_typed() -> None:
    model, manifest = made(nano())
    engine = captured_engine(model, manifest)

    def fail(*arguments: torch.Tensor) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB\nand more lines")

    engine.loops.pieces["act", 1]._work = fail  # type: ignore[assignment]
    with pytest.raises(EngineError, match=r"Tried to allocate 2 GiB") as error:
        Policy(manifest, engine).replan_forced(questions(manifest)[0], EVERY[0])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["fused", "read_once"])
def test_what_the_gpu_script_asks_of_the_loops_holds_on_a_cpu(name: str) -> None:
    """Captures aside: the script runs once on a machine that nobody here sees, so all of it that can runs here."""
    found = gpu_loops.checked(CONFIGS[name], "cpu", compiled=False, every=8, rounds=2)
    assert found["answers"] == 16 and found["largest_row_difference"] < 2e-6 and found["largest_tr_difference"] < 1e-4
    assert len(found["replan_ms"]) == 4 and found["of_pieces"] == 10


def test_prefix_rows_come_back_as_given() -> None:
    model, manifest = made(nano())
    state = np.array(manifest.state.offset, np.float32)
    prefix = rows_like(state, 3)
    chunk = Policy(manifest, captured_engine(model, manifest)).replan_forced(ask(manifest, prefix=prefix), EVERY[0])
    assert chunk.rows.shape == (manifest.head.horizon - 3, SIZE)


@pytest.mark.parametrize("name", ["nano", "read_once", "foresight", "cosmos_2b"])
def test_no_loop_looks_at_a_value_or_brings_one_from_the_host(name: str) -> None:
    """What a CUDA graph cannot record: tensors without values refuse both, so every piece runs on them whole."""
    configs = {"nano": nano(), "read_once": nano("read_once"), "foresight": foresight(), "cosmos_2b": cosmos_2b()}
    config, nowhere = configs[name], torch.device("meta")
    with nowhere:
        model = VideoActionModel(config).to(torch.bfloat16)
    manifest = manifest_of(Checkpoint(model, untrained_card(config, 3, "twin", "a test")), "bf16")
    board = make_board(config, model.head, manifest, nowhere, torch.bfloat16)
    backbone, head = model.backbone, model.head
    functions = (backbone.velocity, backbone.features, head.context, head.action_step)
    loops = ReplanLoops(board, manifest, functions, head)
    with NothingOfTheHost():
        for piece in loops.pieces.values():
            piece.launch()


class NothingOfTheHost(TorchDispatchMode):
    """Fails at the first operator that takes a tensor of the host or makes one."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        host = [each for each in tree_leaves((args, kwargs, made)) if isinstance(each, torch.Tensor) and _on_host(each)]
        if host:
            raise AssertionError(f"{func} with a tensor of the host, {tuple(host[0].shape)}")
        return made


def _on_host(tensor: torch.Tensor) -> bool:
    return tensor.device.type == "cpu"


@pytest.mark.parametrize(
    "work",
    [
        lambda rows: rows.add_(torch.ones(14)),
        lambda rows: rows.copy_(torch.from_numpy(np.ones((6, 14), np.float32))),
        lambda rows: rows * torch.tensor(2.0),
        lambda rows: rows.max().item(),
        lambda rows: rows.cpu(),
        lambda rows: float(rows.sum()),
    ],
)
def test_the_check_above_sees_the_ways_to_the_host(work: Callable[[torch.Tensor], object]) -> None:
    with pytest.raises((RuntimeError, AssertionError)), NothingOfTheHost():
        work(torch.zeros(6, 14, device="meta"))
