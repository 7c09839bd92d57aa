"""The flow convention, in one place.

    x_s = (1 - s) * data + s * noise,  s from 1 (noise) to 0 (data)
    velocity = noise - data
    Euler: x <- x - ds * velocity

Both heads predict the data and turn it into that velocity, so the last Euler step lands on the prediction itself.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from policy_server.model.config import MOST_STEPS

LEAST_NOISE = 1.0 / MOST_STEPS
"""Floor of s in the division: no schedule of up to MOST_STEPS meets it, clean prefix rows (s = 0) do."""


def mix(data: Tensor, noise: Tensor, level: Tensor) -> Tensor:
    """x_s; `level` broadcasts against data."""
    return (1.0 - level) * data + level * noise


def velocity_of(data: Tensor, current: Tensor, level: Tensor) -> Tensor:
    """noise - data, from predicted data, x_s and s. For clean rows (s = 0) the value means nothing and is bounded."""
    return (current - data) / level.clamp_min(LEAST_NOISE)


def schedule(steps: int, end: float = 0.0) -> list[float]:
    """steps + 1 noise levels from 1 to `end`, equally spaced."""
    return [1.0 + (end - 1.0) * step / steps for step in range(steps + 1)]


def sinusoid(values: Tensor, width: int, slowest: float, fastest: float) -> Tensor:
    """(...,) -> (..., width): sines and cosines at width / 2 frequencies from `slowest` to `fastest` turns per unit."""
    rate = torch.linspace(math.log(slowest), math.log(fastest), width // 2, device=values.device).exp()
    phase = values[..., None] * rate.to(values.dtype) * (2.0 * math.pi)
    return torch.cat([phase.sin(), phase.cos()], -1)
