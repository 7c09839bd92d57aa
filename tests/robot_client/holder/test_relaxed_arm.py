"""A relaxed arm that a person moves while it is given torque: it is not said to be held while it is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contract.errors import RigError
from contract.station import load_station
from robot_client.clock import NS_PER_S, FakeClock
from robot_client.holder.client import ArmClient
from robot_client.holder.messages import Hold
from robot_client.holder.process import HolderProcess
from robot_client.holder.rules import rules_of
from robot_client.rigs.base import Stop
from robot_client.rigs.yam import YamRig
from tests.robot_client.holder.arms import state_of
from tests.robot_client.holder.fake_arm import FakeArm
from tests.robot_client.holder.test_holder_files import ScriptedClock, handlers

__all__ = ["handlers"]
STATION = load_station("yam_example")
RULES = replace(rules_of(STATION, "left"), leap_rad=np.full(6, 0.01))
"""Of a station whose joints may turn at 0.2 rad/s, as at a first try."""
REST = np.append(RULES.rest, 0.0)


def test_an_arm_that_stays_relaxed_though_it_is_given_targets_is_no_held_arm(tmp_path: Path) -> None:
    """Its holder refused targets that lay away from where a hand had moved it, in silence and for ever: the loop went
    on saying IDLE or HOLD of an arm that was only gravity compensated."""
    arm, seen = FakeArm(REST), list[tuple[Hold, bool]]()

    def look() -> None:
        state = state_of(client)
        seen.append((state.hold, client.ignored(state)))

    def move_by_hand() -> None:
        arm.position = REST + 0.05

    script: dict[int, Callable[[], object]] = {
        2: lambda: client.stop(Stop.RELAX, confirmed=True),
        4: look,
        5: move_by_hand,
        6: lambda: client.follow(REST),
        8: look,
        10: lambda: client.stop(Stop.HOLD, confirmed=False),
        12: look,
        14: lambda: client.follow(REST + 0.05),
        16: look,
        18: lambda: client.stop(Stop.POWER_OFF, confirmed=True),
    }
    clock = ScriptedClock(script)
    client = ArmClient(tmp_path, "left", tmp_path / "can_left.bus", clock)
    HolderProcess(tmp_path, tmp_path / "can_left.bus", RULES, arm, clock).run()
    assert seen == [(Hold.RELAXED, False), (Hold.RELAXED, True), (Hold.HOLDING, False), (Hold.FOLLOWING, False)]


def test_the_rig_says_so(tmp_path: Path) -> None:
    rig = YamRig(STATION, tmp_path, FakeClock(NS_PER_S))

    class Ignoring:
        arm = "left"

        def state(self) -> tuple[Any, int]:
            return type("State", (), {"hold": Hold.RELAXED, "reason": "joint 1 is sent 0.05 rad away in one step"}), 0

        def ignored(self, state: object) -> bool:
            return True

    rig._clients = {"left": Ignoring()}  # type: ignore[dict-item]
    with pytest.raises(RigError, match=r"left arm is relaxed, and not held: joint 1"):
        rig.joints()
