"""Whether a policy bundle fits the station."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from contract.errors import ConfigurationError
from contract.manifest import BundleManifest
from contract.station import Station
from contract.toml import read_toml
from robot_client.doctor.lines import Line, fail, ok, warn


def check_bundle(station: Station, bundle: Path) -> Iterator[Line]:
    """Roles, rows and training state of `bundle/policy.toml`."""
    what = f"bundle {bundle.name}"
    try:
        manifest = BundleManifest.model_validate(read_toml(bundle / "policy.toml"))
    except (ConfigurationError, ValidationError) as error:
        yield fail(what, str(error).replace("\n", " ")[:200], "give the folder of a policy, with its policy.toml")
        return
    yield _roles(what, station, manifest)
    if station.timing.replan_rows >= manifest.head.horizon:
        found = f"replan_rows {station.timing.replan_rows} is not below its horizon {manifest.head.horizon}"
        yield fail(what, found, "lower replan_rows in the station file")
    yield from _patience(what, station, manifest)
    if not manifest.trained:
        yield warn(what, "not trained: its actions mean nothing", "use it on the twin only")
    if manifest.tr_calibration is None:
        yield warn(what, "its Temporal Ratio is not calibrated, so adaptive guidance stays off", "yam-policy calibrate")


def _patience(what: str, station: Station, manifest: BundleManifest) -> Iterator[Line]:
    """Rows must last until the answer to the next question is there."""
    timing, step_ms = station.timing, manifest.head.step_ns / 1e6
    left_ms = (manifest.head.horizon - timing.replan_rows) * step_ms
    if timing.answer_budget_ms >= left_ms:
        found = f"an answer may take {timing.answer_budget_ms:g} ms, and the rows last {left_ms:g} ms after a question"
        yield warn(what, found, "lower answer_budget_ms or replan_rows in the station file, or arms will stop and go")


def _roles(what: str, station: Station, manifest: BundleManifest) -> Line:
    have = {camera.role for camera in station.cameras}
    views = manifest.canvas.cameras()
    needed = {view.role for view in views if not view.optional}
    missing, spare = sorted(needed - have), sorted(have - {view.role for view in views})
    if missing or spare:
        found = f"it needs {sorted(needed)}, the station has {sorted(have)}"
        return fail(what, found, "give the cameras of the station the policy's roles")
    return ok(what, f"cameras agree: {', '.join(sorted(have))}")
