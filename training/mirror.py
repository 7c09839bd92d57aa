"""The station's mirror image as augmentation: left and right arms change places, so every layout counts twice.

The two arms are the same and stand symmetrically; reflection in the plane between them turns joints 1, 5 and 6 (about
the vertical and about the tool) the other way and leaves 2, 3 and 4 (pitch) as they are. A test checks that against the
kinematics and the pictures of the twin.
"""

from __future__ import annotations

import torch
from torch import Tensor

from contract.architecture import Canvas, View
from contract.layout import CHANNELS

_TURNED = ("joint1", "joint5", "joint6")
_OTHER = {"left": "right", "right": "left"}


def other_side(name: str) -> str:
    """`left_wrist` -> `right_wrist`, `top` -> `top`."""
    side, _, part = name.partition("_")
    return f"{_OTHER[side]}_{part}" if side in _OTHER else name


_ORDER = [CHANNELS.index(other_side(name)) for name in CHANNELS]
_SIGN = torch.tensor([-1.0 if name.endswith(_TURNED) else 1.0 for name in CHANNELS])


def mirrored_values(values: Tensor) -> Tensor:
    """Joints or rows (..., 14) of the mirrored station."""
    return values[..., _ORDER] * _SIGN.to(values.device)


def mirrored_canvases(canvases: Tensor, canvas: Canvas) -> Tensor:
    """Canvases (..., Hc, Wc, 3): every view flipped, and in the place of its other side."""
    flipped = torch.zeros_like(canvases)
    views = {view.role: view for view in canvas.views}
    for role, view in views.items():
        _cut(flipped, views[other_side(role)]).copy_(_cut(canvases, view).flip(-2))
    return flipped


def _cut(canvases: Tensor, view: View) -> Tensor:
    return canvases[..., view.top : view.top + view.height, view.left : view.left + view.width, :]
