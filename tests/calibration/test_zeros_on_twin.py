"""Zeros on the twin, whose joints are given errors that only this test knows."""

from __future__ import annotations

import numpy as np

from calibration import twin
from calibration.bench_parts import true_lens
from calibration.collect import collect
from calibration.zero_check import found_zeros
from contract.layout import ARMS, index
from contract.station import load_station

STATION = load_station("twin")
WRONG = {
    "left_joint1": 0.03, "left_joint3": -0.02, "left_joint6": 0.05, "right_joint2": 0.015, "right_joint5": -0.025,
}  # fmt: skip


def test_wrong_zeros_of_all_joints_are_found_by_pictures_and_readings_alone() -> None:
    zero_rad = np.zeros(14)
    for name, rad in WRONG.items():
        zero_rad[index(name)] = rad
    rig = twin.make_rig(zero_rad=zero_rad.tolist())
    try:
        cell, views = twin.make_cell(rig, STATION, 25.0), []
        for arm in ARMS:
            for plan in (twin.wrist_plan(arm, 9), twin.top_plan(arm, 9)):
                rig.show(twin.board_place(plan.role, arm))
                views += collect(cell, twin.BOARD, plan)
    finally:
        rig.close()
    lenses = {role: true_lens(role) for role in ("top", "left_wrist", "right_wrist")}
    found, farther_m = found_zeros(twin.BOARD, lenses, views, STATION.safety.space)
    assert abs(farther_m) < 0.005
    for arm in ARMS:
        assert set(found[arm]) == {1, 2, 3, 4, 5, 6}
        for joint, zero in found[arm].items():
            name = f"{arm}_joint{joint}"
            assert abs(zero.offset_rad - WRONG.get(name, 0.0)) < 0.006, name
            assert not zero.suspect or name in WRONG, name
