"""Newest images and the loop's question -> Observation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contract.errors import RigError
from contract.server_info import ServerInfo
from contract.station import Camera
from contract.types import Observation
from robot_client.clock import Clock
from robot_client.images import Image, as_rgb, fit
from robot_client.local_messages import PlanRequest
from robot_client.newest import Stamped, Unfit, pick
from robot_client.rectify import Rectifier
from robot_client.rigs.base import Frame


@dataclass(frozen=True, slots=True, eq=False)
class Sighting:
    """Images of one moment, fitted to the policy: role -> image, capture stamp, age; and how long fitting took."""

    images: Mapping[str, Image]
    stamps_ns: Mapping[str, int]
    ages_ns: Mapping[str, int]
    resize_ns: int


def look(
    frames: Mapping[str, Frame],
    cameras: Mapping[str, Camera],
    info: ServerInfo,
    clock: Clock,
    max_age_ns: int,
    rectifiers: Mapping[str, Rectifier],
) -> Sighting:
    """The newest frame of every bound camera (`bind_cameras`), rectified where the policy wants it
    (`rectify.rectifiers_of`), at the size the policy wants.

    Raises `RigError` naming the camera that has delivered nothing or whose image is too old.
    """
    now_ns = clock.now_ns()
    bound = _bound(frames, cameras, now_ns, max_age_ns)
    sizes = {spec.role: (spec.height, spec.width) for spec in info.cameras}
    whole = {role: as_rgb(frame.image) for role, frame in bound.items()}
    whole |= {role: rectifiers[role](image) for role, image in whole.items() if role in rectifiers}
    images = {role: fit(image, *sizes[role]) for role, image in whole.items()}
    return Sighting(
        images=images,
        stamps_ns={role: frame.stamp_ns for role, frame in bound.items()},
        ages_ns={role: now_ns - frame.stamp_ns for role, frame in bound.items()},
        resize_ns=clock.now_ns() - now_ns,
    )


def observation_of(request: PlanRequest, sighting: Sighting, session: str, stamp_ns: int) -> Observation:
    """The question to the policy."""
    return Observation(
        session=session,
        epoch=request.epoch,
        sequence=request.sequence,
        stamp_ns=stamp_ns,
        joints=request.joints,
        joints_stamp_ns=request.joints_stamp_ns,
        images=sighting.images,
        image_stamps_ns=sighting.stamps_ns,
        instruction=request.instruction,
        seed=request.seed,
        first_row=request.first_row,
        prefix=request.prefix,
        budget_ns=request.budget_ns,
        guidance=request.guidance,
    )


def _bound(
    frames: Mapping[str, Frame], cameras: Mapping[str, Camera], now_ns: int, max_age_ns: int
) -> dict[str, Frame]:
    """Role of the policy -> frame of its camera, by the rule that datasets are sampled by."""
    there = {
        role: Stamped(frames[camera.role].stamp_ns, frames[camera.role])
        for role, camera in cameras.items()
        if camera.role in frames
    }
    found = pick(there, cameras, now_ns, max_age_ns)
    if isinstance(found, Unfit):
        raise _unfit(found, cameras[found.name], max_age_ns)
    return {role: stamped.value for role, stamped in found.items()}


def _unfit(why: Unfit, camera: Camera, max_age_ns: int) -> RigError:
    if why.age_ns is None:
        return RigError(f"camera {why.name} ({camera.device})", expected="an image", got="none yet", remedy="check it")
    return RigError(
        f"camera {why.name} ({camera.device})",
        expected=f"an image of the last {max_age_ns / 1e6:.0f} ms",
        got=f"one {why.age_ns / 1e6:.0f} ms old",
        remedy="check cable and driver; nothing is planned on old images",
    )
