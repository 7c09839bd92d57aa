"""`yam-policy info`: what a bundle, or a running server, is."""

from __future__ import annotations

from pathlib import Path

from contract.errors import ConfigurationError
from policy_server.bundle import read_manifest
from policy_server.commands.serve import banner, other_calibration
from policy_server.server.visitor import visit


def info(
    bundle: Path | None, server: str | None, as_json: bool, timeout_s: float, keys: Path | None = None
) -> list[str]:
    """Lines to print. Raises `BundleError` for a broken bundle, `LinkError` for a server that does not answer."""
    if (bundle is None) == (server is None):
        raise ConfigurationError(
            "what to describe", expected="either --bundle or --server", got="both or neither", remedy="give one of them"
        )
    if server is not None:
        with visit(server, timeout_s, keys) as guest:
            return (
                [guest.info.model_dump_json(indent=2)]
                if as_json
                else [*banner(guest.info), f"state        {guest.info.state}"]
            )
    return _of_bundle(bundle, as_json) if bundle is not None else []


def _of_bundle(folder: Path, as_json: bool) -> list[str]:
    manifest = read_manifest(folder)
    if as_json:
        return [manifest.model_dump_json(indent=2)]
    views = ", ".join(f"{view.role} {view.width}x{view.height}" for view in manifest.canvas.views)
    video, head, calibration = manifest.video, manifest.head, manifest.tr_calibration
    return [
        *([] if manifest.trained else ["UNTRAINED WEIGHTS: this policy moves arms, but to no purpose"]),
        f"policy       {manifest.model_id}, weights {manifest.weights_hash[:12]}, {manifest.precision}",
        f"made by      {manifest.provenance.command} (seed {manifest.provenance.seed})",
        f"canvas       {manifest.canvas.width}x{manifest.canvas.height}: {views}",
        f"video        {video.latent_frames} latent frames, {video.blocks} blocks, tap after block {video.tap_block}, "
        f"sigma {video.sigma:g} after {video.passes} passes, features {video.feature_source}",
        f"head         {head.kind}, {head.horizon} rows of {head.step_ns / 1e6:g} ms, {head.flow_steps} flow steps",
        f"guidance     {manifest.guidance.mode}, w_lang <= {manifest.guidance.w_lang_max:g}, "
        f"w_plan <= {manifest.guidance.w_plan_max:g}",
        f"TR           {f'calibrated on {calibration.replans} replans' if calibration else 'UNCALIBRATED'}",
        *other_calibration(calibration, manifest.weights_hash),
        f"files        {len(manifest.files)}",
    ]
