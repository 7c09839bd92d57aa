"""The commands of `yam-calibrate` that change what a person wrote in a station file: they ask before they write."""

from __future__ import annotations

from pathlib import Path

from contract.layout import Arm


def workspace(
    station: str,
    episodes: tuple[Path, ...] = (),
    thickness_m: float = 0.0,
    margin_m: float = 0.05,
    yes: bool = False,
    out: Path | None = None,
) -> None:
    """What safety keeps to, from what was measured: bases, table and box, written into the station file.

    Shows old and new, and asks before it writes. Needs hand-eye for bases and table.

    Args:
        station: station by name, or its file.
        episodes: recorded motions whose places belong to the workspace; none: the box stays.
        thickness_m: of the board that lay on the table.
        margin_m: that the box is larger than the places of the episodes.
        yes: write without asking.
        out: station file to write; default: the station's own.
    """
    from calibration import workspace as routine
    from calibration.person import agrees
    from calibration.section import station_path
    from calibration.toml_lines import changed_file
    from contract.station import load_station

    reached = routine.reached_in(episodes) if episodes else None
    proposal = routine.proposed(load_station(station), thickness_m, reached, margin_m)
    print("\n".join(proposal.lines))
    if yes or agrees(f"Write these into {out or station}? Safety and driver will keep to them."):
        written = changed_file(station_path(station), out, proposal.changes, "yam-calibrate workspace")
        print(f"{out or station}: written; station {written.name}, sha256 {written.sha256()[:12]}")
    else:
        print("nothing was written")


def gripper(
    station: str, arms: tuple[Arm, ...] = ("left", "right"), yes: bool = False, out: Path | None = None
) -> None:
    """The motor travel of grippers, set by hand while the arms have no torque, written into the station file.

    Args:
        station: file of a station with real arms that nobody holds.
        arms: which.
        yes: write without asking.
        out: station file to write; default: the station's own.
    """
    from calibration import gripper_range as routine
    from calibration.person import agrees, told
    from calibration.section import station_path
    from calibration.toml_lines import changed_file
    from contract.station import load_station

    loaded = load_station(station)
    changes: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for arm in arms:
        ends = routine.measured_range(loaded, arm, told)
        changes[("arms", arm)] = {"gripper_limits_rad": [round(one, 4) for one in ends]}
        print(f"{arm} gripper: closed {ends[0]:.3f} rad, open {ends[1]:.3f} rad")
    if yes or agrees(f"Write these into {out or station}? Safety and driver will keep to them."):
        changed_file(station_path(station), out, changes, "yam-calibrate gripper")
        print(f"{out or station}: written")
    else:
        print("nothing was written")
