"""`replans.jsonl`: one line for each answered replan, for calibration and for people with a plotting tool."""

from __future__ import annotations

import json
import math
from pathlib import Path

from robot_client.demo.history import History


def write_replans(path: Path, history: History) -> None:
    """Writes the file; `yam-policy calibrate` reads it."""
    with path.open("w", encoding="utf-8") as file:
        for replan in history.replans:
            entry = {
                "tr": replan.tr_value,
                "density": replan.tr_density,
                "rank": None if math.isnan(replan.tr_rank) else replan.tr_rank,
                "scales": {"lang": replan.scale_lang, "plan": replan.scale_plan},
                "guidance": replan.guidance,
                "branches": list(replan.branches_run),
                "dropped": list(replan.branches_dropped),
                "instruction": replan.instruction,
                "engine_id": replan.engine_id,
                "asked_ns": replan.asked_ns,
                "durations_ns": dict(replan.durations_ns),
            }
            file.write(json.dumps(entry) + "\n")
