"""`yam-policy serve`: a bundle on an engine behind a socket."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contract.errors import ConfigurationError
from contract.heap import keep_freed_memory
from contract.manifest import TrCalibration
from contract.server_info import ServerInfo
from policy_server.bundle import read_manifest
from policy_server.server.processes import serve_until_stopped
from policy_server.server.served_policy import ServedPolicy
from policy_server.server.settings import ServeSettings


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """What computes: the engine's name, its threads, and the folder of compiled engines if not the usual one."""

    name: str
    threads: int = 0
    engines: Path | None = None


def serve(bundle: Path, engine: EngineChoice, settings: ServeSettings, stop_with_stdin: bool) -> None:
    """Serve until stopped. Raises `StackError` for a bad setting, a bundle or engine that cannot serve, or a hang."""
    if engine.threads < 0:
        raise ConfigurationError(
            "--threads", expected="0 or more", got=engine.threads, remedy="0 lets the library choose"
        )
    read_manifest(bundle)  # a wrong path is said before a port is open that clients would wait at
    keep_freed_memory()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)

    notes: list[str] = []

    def load() -> ServedPolicy:
        from policy_server.policy import Policy  # in the inference thread: the engine's library takes its time

        policy = Policy.load(bundle, engine.name, engine.threads, engine.engines)
        notes.extend(other_calibration(policy.manifest.tr_calibration, policy.manifest.weights_hash))
        return policy

    serve_until_stopped(load, settings, stop_with_stdin, on_ready=lambda info: print_banner(info, notes))


def print_banner(info: ServerInfo, notes: Sequence[str]) -> None:
    """Say on standard error what is being served, untrained weights before all else, `notes` last."""
    for line in (*banner(info), *notes):
        print(line, file=sys.stderr, flush=True)


def other_calibration(calibration: TrCalibration | None, weights_hash: str) -> list[str]:
    """A warning when TR was calibrated with other weights than these: its quantiles are not theirs."""
    if calibration is None or calibration.engine_id.rsplit("/", 1)[-1] == weights_hash[:12]:
        return []
    return [
        f"WARNING      TR was calibrated with other weights ({calibration.engine_id}), not {weights_hash[:12]}: "
        "ranks and guidance scales mean little; record runs with --guidance off, then `yam-policy calibrate`"
    ]


def banner(info: ServerInfo) -> list[str]:
    """What a person should know of a policy, one fact a line."""
    cameras = ", ".join(
        f"{camera.role} {camera.width}x{camera.height}{' (optional)' if camera.optional else ''}"
        for camera in info.cameras
    )
    costs = ", ".join(f"{name.removeprefix('branches_')}: {ns / 1e6:.1f} ms" for name, ns in info.costs_ns.items())
    calibrated = info.calibration == "CALIBRATED"
    return [
        *([] if info.trained else ["UNTRAINED WEIGHTS: this policy moves arms, but to no purpose"]),
        f"policy       {info.model_id}, weights {info.weights_hash[:12]}",
        f"engine       {info.engine_id} on {info.runs_on}",
        f"chunks       {info.horizon} rows of {info.step_ns / 1e6:g} ms, up to {info.max_prefix} committed before them",
        f"guidance     {info.guidance}; TR {'calibrated' if calibrated else 'UNCALIBRATED, so guidance stays off'}",
        f"cameras      {cameras}",
        *([f"answer time  by branches {costs}"] if costs else []),
    ]
