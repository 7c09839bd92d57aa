from __future__ import annotations

import torch
from torch import Tensor

from policy_server.model.backbone import CosmosBackbone
from policy_server.model.flow import mix, schedule, velocity_of
from policy_server.model.policy import build
from policy_server.model.video import anchor, denoise, frame_times, tap
from tests.policy_server.model.nano import nano


class Recorder(CosmosBackbone):
    """A backbone whose velocity is 1 in the future and absurd in frame 0, and that keeps what it was shown."""

    def __init__(self, passes: int = 2, sigma: float = 0.5) -> None:
        config = nano(passes=passes, sigma=sigma)
        super().__init__(config.backbone, config.latent.channels, config.text.width, config.token_grid)
        self.shown: list[tuple[Tensor, Tensor]] = []

    def velocity(self, latents: Tensor, timesteps: Tensor, text: Tensor) -> Tensor:
        self.shown.append((latents.clone(), timesteps.clone()))
        velocity = torch.ones_like(latents)
        velocity[:, :, 0] = 1e6
        return velocity

    def features(self, latents: Tensor, timesteps: Tensor, text: Tensor) -> Tensor:
        self.shown.append((latents.clone(), timesteps.clone()))
        return latents


CURRENT, NOISE, TEXT = torch.randn(2, 6, 1, 4, 6), torch.randn(2, 6, 2, 4, 6), torch.zeros(2, 8, 16)


def test_frame_0_is_clean_before_every_pass_and_its_velocity_is_ignored() -> None:
    backbone = Recorder()
    taken = tap(backbone, CURRENT, NOISE, TEXT)
    assert len(backbone.shown) == 3
    for latents, times in backbone.shown:
        assert torch.equal(latents[:, :, :1], CURRENT)
        assert torch.equal(times[:, 0], torch.full((2,), 1e-4))
    torch.testing.assert_close(taken[:, :, 1:], NOISE - 0.5)


def test_the_future_is_shown_from_noise_level_1_to_sigma() -> None:
    backbone = Recorder(passes=2, sigma=0.5)
    tap(backbone, CURRENT, NOISE, TEXT)
    assert [float(times[0, 1]) for _, times in backbone.shown] == [1.0, 0.75, 0.5]


def test_no_passes_means_features_of_pure_noise() -> None:
    backbone = Recorder(passes=0, sigma=1.0)
    tap(backbone, CURRENT, NOISE, TEXT)
    ((latents, times),) = backbone.shown
    assert torch.equal(latents[:, :, 1:], NOISE)
    assert torch.equal(times[:, 1:], torch.ones(2, 2))


def test_a_noise_level_per_sample_reaches_every_later_frame() -> None:
    times = frame_times(torch.zeros(2, 1, 3, 1, 1), torch.tensor([0.2, 0.9]), 1e-4)
    torch.testing.assert_close(times, torch.tensor([[1e-4, 0.2, 0.2], [1e-4, 0.9, 0.9]]))


def test_a_perfect_velocity_field_carries_noise_to_the_data() -> None:
    """x_s = (1 - s) data + s noise and velocity = noise - data, so Euler is exact for it at any number of steps."""
    data = torch.randn(2, 6, 2, 4, 6)

    class Perfect(Recorder):
        def velocity(self, latents: Tensor, timesteps: Tensor, text: Tensor) -> Tensor:
            level = timesteps[:, None, :, None, None]
            return velocity_of(torch.cat([CURRENT, data], 2), latents, level)

    for passes in (1, 4, 10):
        reached = denoise(Perfect(), CURRENT, NOISE, TEXT, passes=passes, end=0.25)
        torch.testing.assert_close(reached, anchor(mix(torch.cat([CURRENT, data], 2), reached_noise(), 0.25), CURRENT))


def reached_noise() -> Tensor:
    return torch.cat([CURRENT, NOISE], 2)


def test_schedules_start_at_noise_and_end_where_asked() -> None:
    assert schedule(4) == [1.0, 0.75, 0.5, 0.25, 0.0]
    assert schedule(2, 0.5) == [1.0, 0.75, 0.5]


@torch.no_grad()
def test_another_instruction_changes_the_features() -> None:
    model = build(nano(), 0)
    tokens = torch.tensor([[13, 15, 14, 7, 10, 15, 2, 0], [13, 15, 9, 8, 10, 15, 2, 0]])
    text = model.instruction(tokens)
    features = tap(model.backbone, CURRENT[:1].expand(2, -1, -1, -1, -1), NOISE[:1].expand(2, -1, -1, -1, -1), text)
    assert float((features[0] - features[1]).abs().max()) > 1e-3
