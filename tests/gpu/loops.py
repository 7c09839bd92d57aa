"""The whole loops on a card: captured, equal to the CPU's steps, on tensors that stay, and how long a replan takes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from contract.types import GuidanceScales
from policy_server.engines.torch_captured import captured_engine
from policy_server.engines.torch_engine import TorchEngine
from policy_server.export.manifest import manifest_of
from policy_server.model.checkpoint import Checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.presets import tiny, tiny_once
from policy_server.model.untrained import untrained_card, untrained_model
from policy_server.policy import Policy
from policy_server.verify.observations import questions
from policy_server.warm_up import SETS

SCALES = (GuidanceScales(0.0, 0.0), *(scales for _, scales in SETS))
ROUNDS = 50


def configurations() -> dict[str, ModelConfig]:
    """Both heads, and the transformer on fused kernels."""
    fused = tiny().head.model_copy(update={"kernel": "fused"})
    return {"tiny": tiny(), "tiny fused": tiny().model_copy(update={"head": fused}), "tiny_once": tiny_once()}


def loops(compiled: bool) -> dict[str, Any]:
    """Every configuration in fp32: differences from the CPU, allocations while replanning, captures, times."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    return {name: checked(config, "cuda", compiled, 6 if compiled else 2) for name, config in configurations().items()}


def checked(config: ModelConfig, device: str, compiled: bool, every: int, rounds: int = ROUNDS) -> dict[str, Any]:
    """One configuration, on every so many of the acceptance questions; a CPU has no captures and no count."""
    model = untrained_model(0, config)
    manifest = manifest_of(Checkpoint(model, untrained_card(config, 0, "twin", "a check")), "fp32")
    reference = Policy(manifest, TorchEngine(model, manifest.weights_hash))
    asked = questions(manifest)[::every]
    wanted = [reference.replan_forced(one.observation, scales) for one in asked for scales in SCALES]
    engine = captured_engine(model, manifest, device, compiled)  # moves the model: the CPU's answers are above
    begin = time.monotonic()
    engine.prepare()
    prepared_s = time.monotonic() - begin
    policy = Policy(manifest, engine)
    policy.warm_up(1)
    before = _allocations(device)
    got = [policy.replan_forced(one.observation, scales) for one in asked for scales in SCALES]
    allocations = _allocations(device) - before
    pairs = list(zip(got, wanted, strict=True))
    ratios = [abs(a.temporal_ratio.value - b.temporal_ratio.value) / b.temporal_ratio.value for a, b in pairs]
    return {
        "answers": len(pairs),
        "largest_row_difference": max(float(np.abs(a.rows - b.rows).max()) for a, b in pairs),
        "largest_tr_difference": max(ratios),
        "device_allocations_while_replanning": allocations,
        "captured": sum(piece.captured for piece in engine.loops.pieces.values()),
        "of_pieces": len(engine.loops.pieces),
        "prepared_s": prepared_s,
        "replan_ms": _times(policy, asked[0].observation, rounds),
        "card_memory_mb": torch.cuda.max_memory_allocated() / 1e6 if device == "cuda" else 0.0,
    }


def _allocations(device: str) -> int:
    """How often the device's allocator was asked so far."""
    return int(torch.cuda.memory_stats()["allocation.all.allocated"]) if device == "cuda" else 0


def _times(policy: Policy, observation: Any, rounds: int) -> dict[str, dict[str, float]]:
    """Whole replans on the host's clock, copies and host work included; an answer is on the host when it returns."""
    found = {}
    for scales in SCALES:
        spent = []
        for _ in range(rounds):
            begin = time.perf_counter_ns()
            chunk = policy.replan_forced(observation, scales)
            spent.append((time.perf_counter_ns() - begin) / 1e6)
        p50, p99 = np.percentile(spent, [50, 99])
        found["+".join(chunk.branches_run)] = {"p50": float(p50), "p99": float(p99)}
    return found


def fused_attention() -> dict[str, Any]:
    """Which of torch's kernels take a head with indicator columns, as it is and widened, and how exact they are."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    from policy_server.model.attention import attend
    from policy_server.model.padded_heads import attend_wide, widen, widen_keys

    torch.manual_seed(0)
    rows, keys, head = 16, 4501, 128
    query = torch.randn(3, 8, rows, head, device="cuda", dtype=torch.bfloat16)
    key, value = (torch.randn(3, 8, keys, head, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    columns = torch.zeros(keys, 2, device="cuda", dtype=torch.bfloat16)
    columns[:900, 0] = columns[900:4500, 1] = 1.0
    hidden = torch.zeros(3, keys, device="cuda", dtype=torch.bfloat16)
    hidden[2] = columns[:, 1]
    shown = torch.cat([value, columns.expand(3, 8, keys, 2)], -1)
    bias = -1e4 * hidden[:, None, None]
    wanted = attend(query.float(), key.float(), shown.float(), bias.float())
    wide = widen_keys(key, hidden), widen(value, columns)
    answers: dict[str, Any] = {}
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION):
        for name, call in (
            ("as it is", lambda: scaled_dot_product_attention(query, key, shown, attn_mask=bias)),
            ("widened", lambda: torch.cat(attend_wide(query, *wide), -1)),
        ):
            with sdpa_kernel(backend):
                answers[f"{backend.name.lower()}, {name}"] = _asked(call, wanted)
    return answers


def _asked(call: Any, wanted: torch.Tensor) -> dict[str, Any]:
    """Largest differences of values and masses from fp32, and the time; or the kernel's refusal."""
    try:
        difference = (call().float() - wanted).abs()
    except RuntimeError as error:
        return {"refused": (str(error).splitlines() or [""])[0][:200]}
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(ROUNDS):
        call()
    end.record()
    torch.cuda.synchronize()
    values, masses = difference[..., :128], difference[..., 128:130]
    return {"values": float(values.max()), "masses": float(masses.max()), "ms": begin.elapsed_time(end) / ROUNDS}
