from __future__ import annotations

import pytest
import torch

from policy_server.model.graphs import graphs_of
from policy_server.model.policy import VideoActionModel, build
from policy_server.model.untrained import untrained_model
from policy_server.model.video import tap
from tests.policy_server.model.nano import nano


def test_a_loss_on_actions_and_video_reaches_every_weight() -> None:
    """Training reuses these modules as they are: encoder, words, backbone and head must all be differentiable."""
    model = build(nano(), 0)
    canvas = torch.randint(0, 256, (2, 9, 32, 48, 3), dtype=torch.uint8)
    clip = model.latent.encode_clip(canvas)
    text = model.instruction(torch.tensor([[13, 15, 14, 7, 0, 0, 0, 0]] * 2))
    features = tap(model.backbone, clip[:, :, :1], torch.randn(2, 6, 2, 4, 6), text)
    context = model.head.context(features, text, torch.randn(2, 14), torch.ones(2))
    velocity, masses = model.head.action_step(torch.randn(2, 6, 14), torch.rand(2, 6), *context)
    video = model.backbone.velocity(clip, torch.rand(2, 3), text)
    loss = velocity.square().mean() + masses.mean() + video.square().mean() + model.latent.decode(clip).square().mean()
    loss.backward()
    idle = [name for name, weight in model.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert not idle


def test_no_graph_of_the_head_takes_pixels_or_latents(nano_model: VideoActionModel) -> None:
    graphs = graphs_of(nano_model)
    assert set(graphs["context"].inputs) == {"features", "text", "state", "future_keep"}
    assert set(graphs["action_step"].inputs) == {"rows", "times", *nano_model.head.step_inputs}


def test_the_same_seed_builds_the_same_model_and_another_seed_another() -> None:
    first, again, other = (untrained_model(seed, nano()).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["head.out.weight"], other["head.out.weight"])


def test_building_a_model_leaves_the_callers_random_numbers_alone() -> None:
    torch.manual_seed(11)
    before = torch.random.get_rng_state()
    untrained_model(0, nano())
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("name", ["video_step", "video_tap"])
def test_the_two_video_graphs_share_their_weights(nano_model: VideoActionModel, name: str) -> None:
    owners = {id(weight) for weight in nano_model.backbone.parameters()}
    assert {id(weight) for weight in graphs_of(nano_model)[name].module.parameters()} == owners
