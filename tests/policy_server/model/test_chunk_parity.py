"""Whole chunks from the exported graphs against the torch model they came from, over 20 varied observations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from contract.layout import GRIPPER_MASK, SIZE
from contract.manifest import BundleManifest
from contract.types import GuidanceScales, ImagineRequest, Observation
from policy_server.bundle import load_bundle
from policy_server.engines.onnxruntime_engine import OnnxRuntimeEngine
from policy_server.engines.torch_engine import TorchEngine
from policy_server.policy import Policy
from policy_server.warm_up import SETS
from tests.policy_server.pipeline import ask

COUNT = 20
CHUNK_TOLERANCE = 1e-4
"""De-normalised rows: rad, or gripper opening."""
TR_TOLERANCE = 1e-5
"""Of TR up to 1, relative above: untrained attention can leave next to no mass on C, and TR goes into the hundreds."""

Pair = tuple[Policy, Policy]


def pair(bundle: Path, checkpoint: Path) -> Pair:
    loaded = load_bundle(bundle)
    engines = (OnnxRuntimeEngine.load(loaded, threads=1), TorchEngine.load(checkpoint))
    exported, reference = (Policy(loaded.manifest, engine) for engine in engines)
    return exported, reference


def observations(manifest: BundleManifest) -> Iterator[Observation]:
    """Pictures from black over structured to noise, states across the statistics, all prefixes, varied words."""
    rng = np.random.default_rng(5)
    words = manifest.text.vocabulary
    for i in range(COUNT):
        images = {v.role: _picture(rng, i, (v.height, v.width)) for v in manifest.canvas.views}
        spread = np.where(GRIPPER_MASK, 0.3, 1.0)
        joints = (np.array(manifest.state.offset) + rng.uniform(-1, 1, SIZE) * spread).astype(np.float32)
        given = i % (manifest.head.max_prefix + 1)
        yield ask(
            manifest,
            images=images,
            joints=joints,
            instruction=" ".join(rng.choice(words, 1 + i % min(8, manifest.text.max_words))) if i else "",
            seed=int(rng.integers(2**63)),
            prefix=(joints + rng.normal(0, 0.02, (given, SIZE))).astype(np.float32),
        )


def _picture(rng: np.random.Generator, kind: int, size: tuple[int, int]) -> np.ndarray:
    """Black, white, one colour, blocks, noise in turn."""
    flat = np.broadcast_to(rng.integers(0, 256, 3), (*size, 3))
    blocks = np.kron(rng.integers(0, 256, (4, 4, 3)), np.ones((-(-size[0] // 4), -(-size[1] // 4), 1)))
    noise = rng.integers(0, 256, (*size, 3))
    options = (np.zeros_like(noise), np.full_like(noise, 255), flat, blocks[: size[0], : size[1]], noise)
    return np.ascontiguousarray(options[kind % 5], np.uint8)


def check(policies: Pair) -> None:
    """Every observation unguided and with each set of branches (each had had only one of the four)."""
    exported, reference = policies
    rows = readings = 0.0
    every_scale = (GuidanceScales(0.0, 0.0), *(scales for _, scales in SETS))
    for asked, scales in itertools.product(observations(exported.manifest), every_scale):
        ours, theirs = (policy.replan_forced(asked, scales) for policy in (exported, reference))
        assert ours.branches_run == theirs.branches_run and len(ours.rows) == len(theirs.rows)
        rows = max(rows, float(np.abs(ours.rows - theirs.rows).max()))
        apart = abs(ours.temporal_ratio.value - theirs.temporal_ratio.value)
        readings = max(readings, apart / max(1.0, theirs.temporal_ratio.value))
    print(f"largest difference: rows {rows:.2e}, TR {readings:.2e}")
    assert rows < CHUNK_TOLERANCE
    assert readings < TR_TOLERANCE


def test_chunks_and_tr_of_exported_graphs_are_those_of_the_torch_model(nano_bundle: Path, nano_checkpoint: Path):
    """Both heads; unguided and with every set of branches."""
    check(pair(nano_bundle, nano_checkpoint))


def test_imagined_frames_are_those_of_the_torch_model(nano_bundle: Path, nano_checkpoint: Path):
    exported, reference = pair(nano_bundle, nano_checkpoint)
    request = ImagineRequest(ask(exported.manifest, instruction="put the red ball in the bowl"), 2)
    ours, theirs = (policy.imagine(request).frames.astype(int) for policy in (exported, reference))
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= 1, "one step of rounding to uint8"
