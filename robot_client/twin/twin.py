"""The twin without a process, for tests, demonstrations and evaluation: the same physics and pictures, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from robot_client.rigs.base import Frame, JointReading
from robot_client.twin.cameras import DEFAULT_SIZES, POLICY_ROLES, Size
from robot_client.twin.judge import Judge, Verdict, misplaced
from robot_client.twin.layouts import Layout, make_layout
from robot_client.twin.renderer import Renderer
from robot_client.twin.scene import build_model
from robot_client.twin.tasks import Task
from robot_client.twin.world import World, steps_in

_LOOK_EVERY = 10


class Twin:
    """One station in simulated time. Equal seeds and targets give equal states, bit for bit.

    Stamps are simulated time since the last reset [ns]. The OpenGL context opens at the first picture, in the thread
    asking for it.
    """

    def __init__(self, world: World, sizes: Mapping[str, Size], *, shadows: bool) -> None:
        self.world = world
        self._sizes, self._shadows = sizes, shadows
        self._renderer: Renderer | None = None
        self._layout: Layout | None = None
        self._judge: Judge | None = None
        self._verdict: Verdict | None = None

    @property
    def layout(self) -> Layout:
        """The present layout; `RigError` before the first reset."""
        if self._layout is None:
            raise RigError("twin", expected="a reset", got="none yet", remedy="call reset(seed)")
        return self._layout

    @property
    def verdict(self) -> Verdict:
        """Phase and success as of the last step; `RigError` before the first reset."""
        if self._verdict is None:
            raise RigError("twin", expected="a reset", got="none yet", remedy="call reset(seed)")
        return self._verdict

    def reset(self, seed: int, task: Task | None = None) -> Layout:
        """Arrange the layout of (seed, task); without a task the seed chooses one."""
        return self.arrange(make_layout(seed, task))

    def arrange(self, layout: Layout) -> Layout:
        """Start over from a given layout."""
        self._layout = layout
        self.world.reset(layout)
        self._judge = Judge(self.world, layout.task)
        self._verdict = self._judge.look()
        return layout

    def joints(self) -> JointReading:
        """Measured joints."""
        return JointReading(self.world.positions(), self.world.velocities(), self._stamp_ns())

    def advance(self, target: NDArray[np.float64], seconds: float) -> Verdict:
        """Follow one target (14,) for a time [s], judging every 50 ms of it."""
        self.world.follow(target)
        left = steps_in(seconds)
        while left > 0:
            now = min(left, _LOOK_EVERY)
            self.world.step(now)
            left -= now
            self.look()
        return self.verdict

    def glide(self, start: NDArray[np.float64], goal: NDArray[np.float64], seconds: float) -> Verdict:
        """Follow a line of targets from `start` to `goal`, one every 10 ms, as the loop interpolates rows."""
        count = max(1, round(seconds / 0.01))
        for i in range(1, count + 1):
            self.world.follow(start + (goal - start) * (i / count))
            self.world.step(steps_in(seconds / count))
            if i % 5 == 0 or i == count:
                self.look()
        return self.verdict

    def render(self, role: str) -> NDArray[np.uint8]:
        """The image of one role now, (height, width, 3) uint8 RGB."""
        if self._renderer is None:
            self._renderer = Renderer(self.world.model, self._sizes, shadows=self._shadows)
        return self._renderer.render(self.world.data, role)

    def frames(self, roles: Iterable[str] = POLICY_ROLES) -> dict[str, Frame]:
        """Images of several roles at one moment."""
        return {role: Frame(role, self.render(role), self._stamp_ns()) for role in roles}

    def misplaced(self) -> str | None:
        """What went to a place it was not asked to go to."""
        return misplaced(self.world, self.layout.task)

    def close(self) -> None:
        """Free the OpenGL context."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def look(self) -> Verdict:
        """Judge the present state, for who steps the world himself; at least every 0.1 s of simulated time."""
        if self._judge is None:
            raise RigError("twin", expected="a reset", got="none yet", remedy="call reset(seed)")
        self._verdict = self._judge.look()
        return self._verdict

    def _stamp_ns(self) -> int:
        return round(self.world.time_s * 1e9)


def make_twin(sizes: Mapping[str, Size] = DEFAULT_SIZES, *, shadows: bool = False, cache: Path | None = None) -> Twin:
    """Compile a twin (about 20 ms once the mesh cache is warm).

    Call `robot_client.twin.gl.choose()` before importing this.
    """
    return Twin(World(build_model(sizes, cache)), sizes, shadows=shadows)
