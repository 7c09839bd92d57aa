"""What state each arm is in, in a line each: the last thing that whoever used the arms says."""

from __future__ import annotations

from contract.errors import RigError
from contract.layout import ARMS, Arm
from contract.station import Station
from robot_client.holder.messages import TORQUE, Hold
from robot_client.holder.start import clients


def account(station: Station, run_dir: str = "", arms: tuple[Arm, ...] = ARMS) -> tuple[list[str], bool]:
    """Lines, alarms too, and whether every one of the arms is held."""
    lines: list[str] = []
    held = True
    for arm, client in clients(station, run_dir).items():
        if arm not in arms:
            continue
        try:
            state, stamp_ns = client.state()
        except RigError as error:
            lines.append(f"{arm} arm: NOT HELD: {error}")
            held = False
            continue
        gone = state.hold is not Hold.OFF and client.abandoned(stamp_ns)
        held = held and not gone and state.hold in TORQUE
        what = "NOT HELD, its holder is gone" if gone else state.hold.value
        lines.append(f"{arm} arm: {what} (holder {state.holder}, client {state.client or 'none'}): {state.reason}")
        if state.alarm:
            lines.append(f"{arm} arm: ALARM {state.alarm}")
        client.close()
    return lines, held
