"""What state each arm is in, in a line each: the last thing that whoever used the arms says."""

from __future__ import annotations

import time
from typing import Final

from contract.errors import RigError
from contract.layout import ARMS, Arm
from contract.station import Station
from robot_client.holder.client import ArmClient
from robot_client.holder.messages import TORQUE, Hold
from robot_client.holder.start import clients

SETTLED_S: Final = 0.5
"""A holder takes a silent client for gone after 100 ms; much longer and it really follows somebody."""


def last_account(station: Station, run_dir: str = "") -> tuple[list[str], bool]:
    """`account` once no arm follows the client that has just left, or half a second later whatever they do."""
    until_s = time.monotonic() + SETTLED_S
    while any(_follows(client) for client in clients(station, run_dir).values()) and time.monotonic() < until_s:
        time.sleep(0.02)
    return account(station, run_dir)


def _follows(client: ArmClient) -> bool:
    try:
        return client.state()[0].hold is Hold.FOLLOWING
    except RigError:
        return False
    finally:
        client.close()


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
