"""The commands of `yam-calibrate` that are run again: the Temporal Ratio of a policy, and the check for drift."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro

from calibration.asked import PICTURES, ROLES, Rig, Role, board_of, views_of


def tr(
    bundle: Annotated[Path, tyro.conf.Positional],
    episodes: tuple[Path, ...],
    q_lo: float | None = None,
    q_hi: float | None = None,
    phases: tuple[str, ...] = (),
    source: str = "unguided replans of recorded episodes",
    look: bool = False,
) -> None:
    """The distribution of the Temporal Ratio over unguided replans, stored in a bundle.

    Args:
        bundle: folder with policy.toml.
        episodes: folders of episodes that were recorded with --guidance off, doing what the policy was trained for.
        q_lo: rank of TR below which adaptive guidance is off; default: as it is.
        q_hi: rank from which on it is whole; default: as it is.
        phases: PHASE=INSTRUCTION of sub-tasks, for quantiles of each.
        source: where the replans come from, for people.
        look: only show, store nothing.
    """
    from calibration import plots
    from calibration import tr as routine

    named = {text: name for name, _, text in (pair.partition("=") for pair in phases)}
    found = routine.collected(episodes, named)
    print("\n".join(routine.shown(found)))
    if found.guided:
        print(f"{found.guided} guided replans were left out")
    print("\n".join(routine.warnings(bundle, found.engine_id)))
    plots.plot_tr(PICTURES / "tr.png", found.by_phase, routine.ranks(bundle, q_lo, q_hi))
    if not look:
        print(routine.store(bundle, found, source, q_lo, q_hi))


def check(
    rig: Rig = "twin",
    station: str = "twin",
    roles: tuple[Role, ...] = ROLES,
    board: Path | None = None,
    data: Path | None = None,
    views: int = 5,
) -> None:
    """Measure again, cheaply, and say what has drifted. Ends with 1 when something has.

    Args:
        rig: twin (simulated), station (real arms) or data (a folder of views).
        station: station by name, or its file.
        roles: which cameras.
        board: board file; default: the one that the twin shows.
        data: folder of views for --rig data.
        views: of each camera.
    """
    from calibration.drift import board_fault, drift_of
    from contract.errors import ConfigurationError
    from contract.station import load_station

    stored, used = load_station(station).calibration, board_of(board)
    if stored is None:
        raise ConfigurationError("station", expected="a [calibration] section", got="none", remedy="calibrate first")
    faults = [fault for fault in [board_fault(stored, used)] if fault]
    for fault in faults:
        print(f"board: {fault}")
    found = views_of(rig, station, board, roles, data, None, views)
    for role in roles:
        arm = "right" if role == "right_wrist" else "left"
        drift = drift_of(stored, used, role, [view for view in found if (view.role, view.arm) == (role, arm)])
        print(
            f"{role}: {drift.reprojection_px:.2f} px, board within {drift.scatter_mm:.2f} mm and "
            f"{drift.scatter_deg:.2f} degrees: {drift.what or 'as calibrated'}"
        )
        faults += [drift.what] if drift.what else []
    if faults:
        sys.exit(1)
