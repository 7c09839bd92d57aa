"""The commands of `yam-calibrate` that are run again: the Temporal Ratio of a policy, and the check for drift."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import tyro

from calibration.asked import PICTURES, Flat, Looks, board_of, views_of


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
    from calibration import plots, tr_scale
    from calibration import tr as routine

    named = routine.phases_of(phases)
    ranks = tr_scale.ranks(bundle, q_lo, q_hi)
    found = routine.collected(episodes, named)
    print("\n".join(routine.shown(found)))
    if found.guided:
        print(f"{found.guided} guided replans were left out")
    for line in routine.unmatched(found, named):
        print(line)
    print("\n".join(tr_scale.warnings(bundle, found.engine_id, found.horizon)))
    plots.plot_tr(PICTURES / "tr.png", found.by_phase, ranks)
    if not look:
        tr_scale.require_fresh(bundle)
        print(tr_scale.store(bundle, found, source, q_lo, q_hi))


def check(looks: Annotated[Looks, Flat], views: int = 5, latencies: bool = True, seconds: float = 2.5) -> None:
    """Measure again, cheaply, and say what has drifted. Ends with 1 when something has.

    Args:
        views: of each camera.
        latencies: measure delays again too, where arms can move and the station has some stored.
        seconds: of each motion that a delay is measured with.
    """
    from calibration.drift import Drift, bases_fault, board_fault, drift_of, require_stored
    from contract.errors import ConfigurationError
    from contract.station import load_station

    stored, used = load_station(looks.station).calibration, board_of(looks.board)
    if stored is None:
        raise ConfigurationError("station", expected="a [calibration] section", got="none", remedy="calibrate first")
    faults = [f"board: {fault}" for fault in [board_fault(stored, used)] if fault]
    print("\n".join(faults) or "board: as it was")
    for role in looks.roles:
        require_stored(stored, role)
    found = views_of(looks, views)
    drifts: dict[str, Drift] = {}
    for role in looks.roles:
        arm = "right" if role == "right_wrist" else "left"
        own = [view for view in found if (view.role, view.arm) == (role, arm)]
        drift = drifts[role] = drift_of(stored, used, role, own)
        print(drift.said())
        faults += [f"{role}: {drift.what}"] if drift.what else []
    faults += [fault for fault in [bases_fault(stored, drifts)] if fault]
    if latencies and looks.rig != "data":
        faults += _delays(looks, stored, seconds)
    print("\n".join(["drifted:", *(f"  {fault}" for fault in faults)]) if faults else "nothing has drifted")
    if faults:
        sys.exit(1)


def _delays(looks: Looks, stored: Any, seconds: float) -> list[str]:
    """What has drifted, or could not be measured at all any more."""
    from calibration import delays
    from calibration.session import opened
    from contract.errors import ConfigurationError

    if not stored.latencies.arms:
        print("latencies: none stored, so none measured again")
        return []
    known = [role for role in looks.roles if role in stored.latencies.cameras]
    with opened(looks.rig, looks.station, board_of(looks.board), delays.LOOP_HZ) as session:  # type: ignore[arg-type]
        try:
            found = delays.measured(session, known, seconds)
        except ConfigurationError as error:
            return [str(error)]
    print("\n".join(delays.said(found)))
    return delays.drifted(stored.latencies, found)
