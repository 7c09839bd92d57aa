"""What a run was, by name, for its report."""

from __future__ import annotations

from robot_client.demo.history import History
from robot_client.demo.settings import RunSettings
from robot_client.demo.watcher import Watcher
from robot_client.local_messages import PolicyReady


def run_facts(
    settings: RunSettings,
    history: History,
    policy: PolicyReady | None,
    watcher: Watcher | None,
    stopped: str,
    success: bool,
) -> dict[str, str]:
    """Name and value. `stopped`: mode and reason when the loop stopped before the run was over."""
    info = watcher.info if watcher else None
    return {
        "policy": f"{policy.model_id}{'' if policy.trained else ' (untrained)'}" if policy else "none",
        "engine": policy.engine_id if policy else "none",
        "runs on": info.runs_on if info else "",
        "TR calibration": info.calibration if info else "",
        "guidance": settings.guidance,
        "station": f"{settings.station}, rig {settings.rig}, seed {settings.seed}",
        "injected faults": settings.inject or "none",
        "modes": ", ".join(history.modes),
        "stopped early": stopped or "no",
        "task succeeded": "yes" if success else "no",
        "failed requests": str(len(history.failures)),
        "imagined clips": str(watcher.answered if watcher else 0),
        "trouble with imagining": (watcher.trouble if watcher else "") or "none",
        "ticks in POLICY without a row": str(history.unplanned_ticks()),
        "ticks on a chunk that no server answered": str(history.unanswered_ticks()),
    }
