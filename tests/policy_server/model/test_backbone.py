from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from diffusers import CosmosTransformer3DModel
from diffusers.models.transformers import transformer_cosmos
from torch import Tensor
from torch.nn import functional

from contract.errors import BundleError
from policy_server.model.backbone import CosmosBackbone
from policy_server.model.config import ModelConfig
from policy_server.model.policy import VideoActionModel, build
from policy_server.model.presets import cosmos_2b
from policy_server.model.pretrained import load_transformer, project_text
from policy_server.model.video import denoise, frame_times
from tests.policy_server.model.nano import nano

TEXT_IN = 40


def cosmos_of(config: ModelConfig) -> CosmosTransformer3DModel:
    """The transformer as Cosmos-Predict2.5 ships it: padding mask inside, text projection inside."""
    backbone, frames = config.backbone, config.latent.frames
    torch.manual_seed(5)
    model = CosmosTransformer3DModel(
        in_channels=config.latent.channels + 1,
        out_channels=config.latent.channels,
        num_attention_heads=backbone.heads,
        attention_head_dim=backbone.head_dim,
        num_layers=backbone.layers,
        text_embed_dim=config.text.width,
        adaln_lora_dim=backbone.adaln_lora_dim,
        max_size=(frames, *config.latent_size),
        patch_size=backbone.patch,
        rope_scale=backbone.rope_scale,
        concat_padding_mask=True,
        extra_pos_embed_type="learnable",
        use_crossattn_projection=True,
        crossattn_proj_in_channels=TEXT_IN,
        encoder_hidden_states_channels=config.text.width,
    )
    for table in model.learnable_pos_embed.parameters():
        torch.nn.init.normal_(table)
    return model.eval()


@pytest.fixture
def with_resize(monkeypatch: pytest.MonkeyPatch) -> None:
    """diffusers resizes its padding mask with torchvision, which is not installed: nearest resize is the same."""

    def resize(mask: Tensor, size: list[int], interpolation: object) -> Tensor:
        return functional.interpolate(mask, size=tuple(size), mode="nearest")

    fake = SimpleNamespace(
        functional=SimpleNamespace(resize=resize), InterpolationMode=SimpleNamespace(NEAREST="nearest")
    )
    monkeypatch.setattr(transformer_cosmos, "transforms", fake, raising=False)


@pytest.fixture
def pair(tmp_path: Path, with_resize: None) -> tuple[CosmosTransformer3DModel, CosmosBackbone, Path]:
    """diffusers' model and ours, loaded from the folder that diffusers saved."""
    config = nano()
    theirs = cosmos_of(config)
    theirs.save_pretrained(str(tmp_path))
    ours = build(config, 0).backbone
    load_transformer(ours, tmp_path)
    return theirs, ours, tmp_path


def as_their_pipeline_calls(
    model: CosmosTransformer3DModel, latents: Tensor, current: Tensor, level: float, text: Tensor
) -> Tensor:
    """The body of Cosmos2_5_PredictBasePipeline's denoising loop, one conditional frame."""
    batch, _, frames, height, width = latents.shape
    indicator = torch.zeros(batch, 1, frames, 1, 1)
    indicator[:, :, :1] = 1.0
    mask = indicator.expand(-1, -1, -1, height, width)
    clean = torch.cat([current, torch.zeros_like(latents[:, :, 1:])], 2)
    predicted = model(
        hidden_states=mask * clean + (1 - mask) * latents,
        condition_mask=mask,
        timestep=indicator * 1e-4 + (1 - indicator) * level,
        encoder_hidden_states=text,
        padding_mask=torch.zeros(1, 1, height * 8, width * 8),
        return_dict=False,
    )[0]
    return predicted * (1 - mask)


def draws(config: ModelConfig, batch: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    height, width = config.latent_size
    latents = torch.randn(batch, config.latent.channels, config.latent.frames, height, width, generator=generator)
    return latents[:, :, :1], latents[:, :, 1:], torch.randn(batch, 7, TEXT_IN, generator=generator)


@torch.no_grad()
def test_velocity_is_that_of_diffusers_called_as_its_own_pipeline_calls_it(pair) -> None:
    theirs, ours, folder = pair
    current, future, hidden = draws(nano())
    latents = torch.cat([current, future], 2)
    expected = as_their_pipeline_calls(theirs, latents, current, 0.7, hidden)
    velocity = ours.velocity(latents, frame_times(latents, 0.7, 1e-4), project_text(folder, hidden))
    assert expected[:, :, 1:].std() > 0.05
    torch.testing.assert_close(velocity[:, :, 1:], expected[:, :, 1:], atol=1e-5, rtol=0)


@torch.no_grad()
def test_passes_give_the_latents_of_the_pipelines_loop(pair) -> None:
    theirs, ours, folder = pair
    current, noise, hidden = draws(nano())
    latents = torch.cat([current, noise], 2)
    for level, following in ((1.0, 0.75), (0.75, 0.5)):
        latents = latents + (following - level) * as_their_pipeline_calls(theirs, latents, current, level, hidden)
    reached = denoise(ours, current, noise, project_text(folder, hidden), passes=2, end=0.5)
    torch.testing.assert_close(reached[:, :, 1:], latents[:, :, 1:], atol=1e-5, rtol=0)


@torch.no_grad()
def test_features_are_the_hidden_states_after_the_tapped_block(pair) -> None:
    theirs, ours, folder = pair
    current, future, hidden = draws(nano())
    seen: list[Tensor] = []
    block = theirs.transformer_blocks[ours.config.tap_block]
    handle = block.register_forward_hook(lambda module, inputs, output: seen.append(output))
    latents = torch.cat([current, future], 2)
    as_their_pipeline_calls(theirs, latents, current, 0.5, hidden)
    handle.remove()
    features = ours.features(latents, frame_times(latents, 0.5, 1e-4), project_text(folder, hidden))
    torch.testing.assert_close(features, seen[0], atol=1e-5, rtol=0)


def test_weights_of_another_size_are_refused_by_name(pair) -> None:
    _, _, folder = pair
    with pytest.raises(BundleError, match=r"transformer_blocks\.1"):
        load_transformer(build(nano(layers=1), 0).backbone, folder)


@torch.no_grad()
def test_both_attention_kernels_agree() -> None:
    plain, fused = (build(nano(kernel=kernel), 0).backbone for kernel in ("matmul", "fused"))
    current, future, _ = draws(nano())
    latents, text = torch.cat([current, future], 2), torch.randn(2, 8, 16)
    times = frame_times(latents, 0.5, 1e-4)
    torch.testing.assert_close(
        plain.velocity(latents, times, text), fused.velocity(latents, times, text), atol=1e-5, rtol=0
    )


@torch.no_grad()
@pytest.mark.parametrize(("attention", "unmoved"), [("frame_causal", True), ("bidirectional", False)])
def test_the_current_frame_sees_the_future_only_when_bidirectional(attention: str, unmoved: bool) -> None:
    backbone = build(nano(attention=attention, tap_block=1), 0).backbone
    current, future, _ = draws(nano())
    text = torch.randn(2, 8, 16)
    tokens = backbone.grid[1] * backbone.grid[2]
    taken = []
    for scale in (1.0, -1.0):
        latents = torch.cat([current, scale * future], 2)
        taken.append(backbone.features(latents, frame_times(latents, 0.5, 1e-4), text)[:, :tokens])
    assert (float((taken[0] - taken[1]).abs().max()) < 1e-6) is unmoved


@torch.no_grad()
def test_a_frame_causal_backbone_gives_the_current_frame_alone() -> None:
    backbone = build(nano(attention="frame_causal", tap_block=1), 0).backbone
    current, future, _ = draws(nano())
    text, latents = torch.randn(2, 8, 16), torch.cat([current, future], 2)
    both = backbone.features(latents, frame_times(latents, 0.5, 1e-4), text)
    alone = backbone.features(current, frame_times(current, 0.5, 1e-4), text)
    torch.testing.assert_close(alone, both[:, : alone.shape[1]], atol=1e-6, rtol=0)


@torch.no_grad()
def test_every_latent_frame_has_its_own_time() -> None:
    backbone = build(nano(tap_block=1), 0).backbone
    current, future, _ = draws(nano())
    latents, text = torch.cat([current, future], 2), torch.randn(2, 8, 16)
    base = torch.full((2, 3), 0.5)
    before = backbone.velocity(latents, base, text)
    for frame in range(3):
        times = base.clone()
        times[:, frame] = 0.9
        assert float((backbone.velocity(latents, times, text) - before).abs().max()) > 1e-3


def test_cosmos_2b_has_two_billion_parameters_in_28_blocks() -> None:
    with torch.device("meta"):
        model = VideoActionModel(cosmos_2b())
    backbone = sum(parameter.numel() for parameter in model.backbone.parameters())
    assert 1.9e9 < backbone < 2.1e9
    assert cosmos_2b().token_grid == (5, 15, 60)
    assert len(model.backbone.dit.transformer_blocks) == 28
