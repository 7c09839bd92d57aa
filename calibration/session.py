"""A station opened for calibration: the twin, or the real arms and cameras; and the person who moves the board."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from calibration import twin
from calibration.board import Board
from calibration.cell import Cell
from calibration.collect import Plan
from calibration.person import told
from contract.errors import ConfigurationError
from contract.layout import Arm
from contract.station import Station, load_station
from robot_client.clock import MonotonicClock

RigKind = Literal["twin", "station"]
_SPREAD_RAD = (0.15, 0.12, 0.12, 0.25, 0.35, 0.5)
"""On real arms, where nobody knows what stands around the board but the station file."""

_END_S = 5.0
_HOW = (
    "The arms are held and nobody drives them: use yam-robot teleop in another terminal and end it, or, where they lie "
    "at the park pose, yam-robot arms relax and your hands."
)


@dataclass(frozen=True, slots=True)
class Session:
    """What a routine needs. `prepare` says what the person must do, and returns when it is done."""

    station: Station
    cell: Cell
    board: Board
    prepare: Callable[[Plan], Plan]
    plan: Callable[[str, Arm, int], Plan]
    """Role, arm, views -> where to begin."""


def require_board(kind: str, file: Path | None) -> None:
    """Raises `ConfigurationError` when real arms would be calibrated against a board that nobody described."""
    if kind == "station" and file is None:
        raise ConfigurationError("--board", expected="the file of the printed board", got="nothing", remedy="name it")


@contextmanager
def opened(kind: RigKind, station: str, board: Board, loop_hz: float | None = None) -> Iterator[Session]:
    """The station, ready to move. Raises `ConfigurationError` or `RigError`. Real arms stay held when it is left."""
    if kind == "twin":
        with _twin(station, loop_hz) as session:
            yield session
        return
    with _real(station, board) as session:
        yield session


@contextmanager
def _twin(station: str, loop_hz: float | None) -> Iterator[Session]:
    loaded = load_station(station)
    rig = twin.make_rig()

    def prepare(plan: Plan) -> Plan:
        rig.show(twin.board_place(plan.role, plan.arm))
        return plan

    def plan(role: str, arm: Arm, views: int) -> Plan:
        return twin.top_plan(arm, views) if role == "top" else twin.wrist_plan(arm, views)

    try:
        yield Session(loaded, twin.make_cell(rig, loaded, loop_hz or 50.0), twin.BOARD, prepare, plan)
    finally:
        rig.close()


@contextmanager
def _real(name: str, board: Board) -> Iterator[Session]:
    from robot_client.cameras.start import Cameras
    from robot_client.demo.children import end_all
    from robot_client.holder.account import last_account
    from robot_client.holder.start import start_holders
    from robot_client.process_config import RigConfig
    from robot_client.rigs.choose import make_rig

    loaded, clock = load_station(name), MonotonicClock()
    if loaded.arms is None:
        raise ConfigurationError("--rig station", expected="a station with arms", got=name, remedy="use --rig twin")
    with ExitStack() as stack:
        stack.callback(lambda: print("\n".join(last_account(loaded)[0])))  # a person may have relaxed them
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="yam-calibrate-")))
        cameras = Cameras(loaded, {}, folder, folder)
        stack.callback(lambda: end_all(list(cameras.children.values()), _END_S))
        for line in cameras.start():
            print(line)
        start_holders(name)
        rig = make_rig(RigConfig(station=name, rig="yam", frames_dir=str(folder)), loaded, clock)
        rig.open()
        stack.callback(rig.close)
        cell = Cell(rig, clock, loaded)

        def prepare(plan: Plan) -> Plan:
            cell.let_be()
            told(f"{_prompt(plan)} {_HOW}")
            return Plan(plan.role, plan.arm, cell.stands(), plan.spread_rad, plan.views, plan.seed)

        def plan(role: str, arm: Arm, views: int) -> Plan:
            return Plan(role, arm, loaded.poses.home.vector(), _SPREAD_RAD, views)

        yield Session(loaded, cell, board, prepare, plan)


def _prompt(plan: Plan) -> str:
    if plan.role == f"{plan.arm}_wrist":
        return (
            f"Lay the board flat on the table where both arms reach, and leave it there for both. Bring "
            f"the {plan.arm} arm above it, so that {plan.role} sees the whole board in the middle of its picture."
        )
    return (
        f"Clamp the board by its edge, flat between the jaws of the {plan.arm} gripper, so that it cannot slip, and "
        f"bring the arm to where {plan.role} sees the whole board in the middle of its picture. Keep clear: the arm "
        "turns by half a radian to all sides."
    )
