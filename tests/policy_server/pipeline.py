"""What the pipeline tests share: an observation with any field changed, a scripted policy, a clock that tests turn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from contract.layout import SIZE
from contract.manifest import BundleManifest
from contract.types import ActionChunk, Observation
from policy_server.engines.scripted import ScriptedEngine
from policy_server.engines.scripted_manifest import scripted_manifest, three_views
from policy_server.engines.scripted_policy import Script, scripted_engine
from policy_server.policy import Policy
from policy_server.warm_up import neutral_observation

SMALL = three_views(height=24, width=32)
HEADS = ("action_step", "context")
"""Where a head's masses come from: with its flow steps, or with its context, before the first of them."""
LOW, MIDDLE, HIGH = 0.05, 0.3, 0.5
"""Mass on F with 0.5 on C: ranks 0.1 (no guidance), 0.6 (half of it), 1 (all)."""


@dataclass
class Clock:
    """Monotonic time that moves only when told."""

    now_ns: int = 0

    def __call__(self) -> int:
        return self.now_ns

    def sleep(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)


@dataclass
class Bench:
    """A scripted policy with everything that a test may want to turn."""

    manifest: BundleManifest = field(default_factory=lambda: scripted_manifest(SMALL))
    script: Script = field(default_factory=lambda: Script(influence=0.1))
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.engine: ScriptedEngine = scripted_engine(self.manifest, self.script, self.clock.sleep)
        self.policy = Policy(self.manifest, self.engine, self.clock)

    def replan(self, observation: Observation | None = None, **changes: object) -> ActionChunk:
        """The answer to an observation received now."""
        asked = observation or ask(self.manifest, **changes)
        received = self.clock()
        return self.policy.replan(asked, lambda: self.clock() - received)


def ask(manifest: BundleManifest, **changes: object) -> Observation:
    """A varied but fixed observation: pictures with structure, a state off its mean, a known instruction."""
    base = neutral_observation(manifest)
    rng = np.random.default_rng(7)
    images = {role: rng.integers(0, 256, image.shape, np.uint8) for role, image in base.images.items()}
    joints = (base.joints + rng.normal(0.0, 0.1, SIZE)).astype(np.float32)
    fields = {"images": images, "joints": joints, "seed": 11, "first_row": 40, "session": "test", "sequence": 3}
    return replace(base, **{**fields, **changes})


def rows_like(state: np.ndarray, count: int) -> np.ndarray:
    """(count, 14) float32 rows creeping away from a state."""
    return (state + 0.01 * np.arange(1, count + 1)[:, np.newaxis]).astype(np.float32)


def bench(masses_from: Literal["action_step", "context"] = "action_step", future_mass: float = MIDDLE) -> Bench:
    """A scripted policy of one kind of head at one TR."""
    return Bench(scripted_manifest(SMALL, masses_from), Script(influence=0.1, future_mass=future_mass))


def same_answer(a: ActionChunk, b: ActionChunk) -> bool:
    """Bit for bit the same rows, from the same branches at the same scales."""
    return np.array_equal(a.rows, b.rows) and a.scales == b.scales and a.branches_run == b.branches_run
