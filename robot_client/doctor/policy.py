"""Cameras of the station, and whether a policy bundle fits it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from contract.errors import ConfigurationError
from contract.manifest import BundleManifest
from contract.station import Camera, Station
from contract.toml import read_toml
from robot_client.doctor.lines import Line, fail, ok, warn


def check_cameras(station: Station) -> Iterator[Line]:
    """Each camera's device and latency."""
    for camera in station.cameras:
        yield _device(camera)
        if camera.latency_ms == 0.0:
            action = (
                "measure it and write latency_ms into the station file; "
                "until then stamps of images whose own are unusable are too young"
            )
            yield warn(f"camera {camera.role}, latency", "not calibrated", action)


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
    if not manifest.trained:
        yield warn(what, "not trained: its actions mean nothing", "use it on the twin only")
    if manifest.tr_calibration is None:
        yield warn(what, "its Temporal Ratio is not calibrated, so adaptive guidance stays off", "yam-policy calibrate")


def _roles(what: str, station: Station, manifest: BundleManifest) -> Line:
    have = {camera.role for camera in station.cameras}
    views = manifest.canvas.cameras()
    needed = {view.role for view in views if not view.optional}
    missing, spare = sorted(needed - have), sorted(have - {view.role for view in views})
    if missing or spare:
        found = f"it needs {sorted(needed)}, the station has {sorted(have)}"
        return fail(what, found, "give the cameras of the station the policy's roles")
    return ok(what, f"cameras agree: {', '.join(sorted(have))}")


def _device(camera: Camera) -> Line:
    what = f"camera {camera.role}"
    kind, _, name = camera.device.partition(":")
    if kind == "twin":
        return fail(what, f"{camera.device} is a camera of the twin", "name the real device in the station file")
    if kind == "v4l2":
        if Path(name).exists():
            return ok(what, f"{name} is there")
        return fail(what, f"no {name}", "plug the camera in; name it by /dev/v4l/by-id, which stays")
    return warn(what, f"{camera.device} is not looked for here", "see that it delivers before you engage")
