"""Pictures of the twin: one off-screen OpenGL context for all cameras.

A context belongs to the thread that opened it. Shadows cost more than everything else here, so only the overview may
have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError
from robot_client.twin.cameras import DEFAULT_SIZES, OVERVIEW, SUPERSAMPLE, Size, checked_sizes
from robot_client.twin.gl import REMEDY

_VISIBLE_GROUPS = (0, 1, 2)


class Renderer:
    """Renders camera roles of one model. Use in the thread that made it; close it there."""

    def __init__(
        self, model: mujoco.MjModel, sizes: Mapping[str, Size] = DEFAULT_SIZES, *, shadows: bool = True
    ) -> None:
        self._sizes = checked_sizes({**DEFAULT_SIZES, **sizes})
        self._model, self._shadows = model, shadows
        self._scene = mujoco.MjvScene(model, maxgeom=500)
        self._option = mujoco.MjvOption()
        self._option.geomgroup[:] = [group in _VISIBLE_GROUPS for group in range(len(self._option.geomgroup))]
        self._cameras = {role: _fixed_camera(model, role) for role in self._sizes}
        width, height = model.vis.global_.offwidth, model.vis.global_.offheight
        self._check_fits(width, height)
        self._gl = _open_gl(width, height)
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)

    def render(self, data: mujoco.MjData, role: str) -> NDArray[np.uint8]:
        """One image (height, width, 3) uint8 RGB, top row first, of a state whose kinematics are up to date."""
        size = self._sizes.get(role)
        if size is None:
            raise ConfigurationError("camera role of the twin", expected=", ".join(self._sizes), got=role)
        mujoco.mjv_updateScene(
            self._model, data, self._option, None, self._cameras[role], mujoco.mjtCatBit.mjCAT_ALL.value, self._scene
        )
        self._gl.make_current()  # another renderer of this thread may have been used, or closed, since
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = self._shadows and role == OVERVIEW
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        height, width = SUPERSAMPLE * size.height, SUPERSAMPLE * size.width
        area = mujoco.MjrRect(0, 0, width, height)
        pixels = np.empty((height, width, 3), np.uint8)
        mujoco.mjr_render(area, self._scene, self._context)
        mujoco.mjr_readPixels(pixels, None, area, self._context)
        return _averaged(pixels)[::-1].copy()

    def render_all(self, data: mujoco.MjData, roles: Iterable[str]) -> dict[str, NDArray[np.uint8]]:
        """Images of several roles, of one and the same state."""
        return {role: self.render(data, role) for role in roles}

    def close(self) -> None:
        """Free the context."""
        self._gl.make_current()
        self._context.free()
        self._gl.free()

    def _check_fits(self, width: int, height: int) -> None:
        for role, size in self._sizes.items():
            if SUPERSAMPLE * size.width > width or SUPERSAMPLE * size.height > height:
                raise ConfigurationError(
                    f"image size of camera {role}",
                    expected=f"at most {width // SUPERSAMPLE}x{height // SUPERSAMPLE}, what the model was compiled for",
                    got=f"{size.width}x{size.height}",
                    remedy="compile the model with the same sizes",
                )


def _averaged(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Mean of each 2 x 2 block, rounded: (2 h, 2 w, 3) to (h, w, 3). The row length is kept whole to add fast."""
    height, width = pixels.shape[0] // 2, pixels.shape[1] // 2
    lines = pixels.reshape(height, 2, width * 6)
    pairs = np.add(lines[:, 0], lines[:, 1], dtype=np.uint16).reshape(height, width, 2, 3)
    return ((pairs[:, :, 0] + pairs[:, :, 1] + np.uint16(2)) >> np.uint16(2)).astype(np.uint8)


def _fixed_camera(model: mujoco.MjModel, role: str) -> mujoco.MjvCamera:
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
    camera.fixedcamid = model.camera(role).id
    return camera


def _open_gl(width: int, height: int) -> mujoco.GLContext:
    try:
        context = mujoco.GLContext(width, height)
        context.make_current()
    except (ImportError, AttributeError, RuntimeError) as error:
        raise ConfigurationError(
            "off-screen rendering",
            expected="a working EGL or OSMesa",
            got=f"{type(error).__name__}: {error}",
            remedy=REMEDY,
        ) from error
    return context
