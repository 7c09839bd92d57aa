"""`yam-robot bench payload`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from contract.errors import ConfigurationError
from robot_client.latency.result import machine
from robot_client.payload.openpi_env import interpreter
from robot_client.payload.sweep import REFERENCE, Plan, rows_of

_WIDTH: Final = 150
_DEFINITION: Final = {
    "ours": "arrays -> encode -> DEALER -> ROUTER -> decode, check, queue, sleep, encode -> decode, check -> arrays",
    "openpi": "openpi-client's WebsocketClientPolicy.infer against a websocket server of ours that packs and unpacks "
    "with openpi-client's own msgpack_numpy, sleeps as long, and answers (16, 14) actions",
    "payload": "three uint8 images, 14 joints, a sentence; our answer also carries attention masses (8 kB)",
    "far": "both through one TCP proxy on this machine that holds every byte back; no real network was measured",
    "jpeg": "not on the wire, protocol 1 sends pixels; round_trip_p50_ms is put together: the measured round trip of "
    "plain images as long as the JPEG files, and the medians of encoding and decoding those, timed alone on one core",
}


def bench_payload(plan: Plan | None = None, openpi: bool = True) -> dict[str, Any]:
    """Measure; what is written. Without openpi's client its figures are None and `openpi_reason` says why."""
    plan = plan or Plan()
    plan.check()
    python, versions, reason = None, "", "not asked for"
    if openpi:
        try:
            python, versions = interpreter()
            reason = ""
        except ConfigurationError as error:
            reason = str(error)
    rows = rows_of(plan, python)
    at_reference = next((row for row in rows if (row["height"], row["width"]) == REFERENCE), rows[0])
    return {
        "openpi_over_ours_p50": at_reference.get("openpi_over_ours_p50"),
        "openpi_over_ours_beyond_policy_p50": at_reference.get("openpi_over_ours_beyond_policy_p50"),
        "openpi_reason": reason,
        "openpi": versions,
        "policy_ms": plan.policy_ms,
        "rows": rows,
        "definition": _DEFINITION,
        "machine": machine(),
    }


def add_payload(result: dict[str, Any], payload: Mapping[str, Any]) -> None:
    """The sweep of the same run into a result of the latency bench."""
    for key in ("openpi_over_ours_p50", "openpi_over_ours_beyond_policy_p50", "openpi_reason"):
        result[key] = payload[key]
    result["payload"] = dict(payload)


def write_payload(payload: Mapping[str, Any], path: Path) -> None:
    """The JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(payload, indent=1) + "\n", encoding="utf-8")


def show_payload(payload: Mapping[str, Any]) -> None:
    """A row for each size and distance."""
    table = Table(
        *("images", "extra/way", "ours p50", "p99", "openpi p50", "p99", "ratio", "beyond policy", "with JPEG"),
        "pays below",
    )
    for row in payload["rows"]:
        theirs = row.get("openpi_ms") or {}
        table.add_row(
            f"3 x {row['width']}x{row['height']}",
            f"{row['extra_ms_each_way']:g} ms",
            f"{row['ours_ms']['p50']:.2f}",
            f"{row['ours_ms']['p99']:.2f}",
            *(f"{theirs[name]:.2f}" if theirs else "-" for name in ("p50", "p99")),
            str(row.get("openpi_over_ours_p50", "-")),
            str(row.get("openpi_over_ours_beyond_policy_p50", "-")),
            f"{row['jpeg']['round_trip_p50_ms']:.2f}",
            f"{row['jpeg']['pays_below_mbit_s']:g} Mbit/s",
        )
    console = Console(markup=False)
    console = console if console.is_terminal else Console(markup=False, width=_WIDTH)
    console.print(table)
    why = payload["openpi_reason"] or payload["openpi"]
    console.print(f"ms; policy {payload['policy_ms']:g} ms on both sides; {why}", highlight=False, soft_wrap=True)
