"""Where both arms are now, and how their joints move their tools: worked out once a step, for all who ask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contract.layout import joints_of_both
from robot_client.safety.interval import Array
from robot_client.safety.kinematics import jacobian_of, link_frames, tool_centre
from robot_client.safety.space import Space


@dataclass(frozen=True, slots=True, eq=False)
class Present:
    """Of pairs of arms (...), in the station's frame."""

    ends: Array
    """(..., 2C + F, 2, 3) [m] ends of all capsules' lines."""
    tools: Array
    """(..., 2, 3) [m] tool centres."""
    jacobian: Array
    """(..., 2, 3, 6) [m/rad] of the tool centres."""

    def flat(self, count: int) -> Present:
        """The same with all pairs of arms in one axis of that length."""
        return Present(
            self.ends.reshape(count, *self.ends.shape[-3:]),
            self.tools.reshape(count, *self.tools.shape[-2:]),
            self.jacobian.reshape(count, *self.jacobian.shape[-3:]),
        )

    def rows(self, which: NDArray[np.intp]) -> Present:
        """Those of pairs of arms in one axis."""
        return Present(self.ends[which], self.tools[which], self.jacobian[which])


def present(space: Space, position: Array) -> Present:
    """At targets (..., 14)."""
    frames, origins = link_frames(joints_of_both(position), space.bases)
    tools = tool_centre(frames, origins)
    return Present(capsule_ends(space, frames, origins), tools, jacobian_of(frames, origins, tools))


def capsule_ends(space: Space, frames: Array, origins: Array) -> Array:
    """(..., 2C + F, 2, 3) [m] of `link_frames` (..., 2, 7, ...), and of what is fixed."""
    link, count = space.link, 2 * len(space.link)
    moving = space.ends @ np.swapaxes(frames[..., link, :, :], -1, -2) + origins[..., link, None, :]
    lead = origins.shape[:-3]
    ends = np.empty((*lead, count + len(space.fixed), 2, 3))
    ends[..., :count, :, :] = moving.reshape(*lead, count, 2, 3)
    ends[..., count:, :, :] = space.fixed
    return ends
