from __future__ import annotations

import pytest
import torch

from policy_server.model.config import LatentConfig, TextConfig
from policy_server.model.instruction import CachedInstructions, WordEncoder
from policy_server.model.latent import build_latent_encoder, pixels, to_uint8
from policy_server.model.latent_conv import ConvLatent
from policy_server.model.policy import build
from policy_server.model.untrained import drawn_canvases
from tests.policy_server.model.nano import nano

CONV = LatentConfig(kind="conv", channels=6, frames=3, width=4)
WAN = LatentConfig(kind="wan", channels=16, frames=3, width=8, vae={"dim_mult": [1, 1, 1, 1], "num_res_blocks": 1})


def clip(frames: int = 9) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (2, frames, 32, 48, 3), generator=generator, dtype=torch.uint8)


@torch.no_grad()
@pytest.mark.parametrize(("config", "decoded"), [(CONV, 3), (WAN, 9)])
def test_a_clip_starts_with_the_latent_of_its_first_frame(config: LatentConfig, decoded: int) -> None:
    torch.manual_seed(0)
    encoder = build_latent_encoder(config).eval()
    latents = encoder.encode_clip(clip())
    assert latents.shape == (2, config.channels, 3, 4, 6)
    torch.testing.assert_close(latents[:, :, :1], encoder.encode(clip()[:, 0]), atol=1e-5, rtol=0)
    pictures = to_uint8(encoder.decode(latents))
    assert pictures.shape == (2, decoded, 32, 48, 3)
    assert pictures.dtype == torch.uint8


@torch.no_grad()
def test_wan_latents_are_normalised_by_the_statistics_of_the_autoencoder() -> None:
    torch.manual_seed(0)
    encoder = build_latent_encoder(WAN).eval()
    raw = encoder.vae.encode(pixels(clip()).transpose(1, 2)).latent_dist.mode()
    mean, deviation = (
        torch.tensor(values).view(1, 16, 1, 1, 1)
        for values in (encoder.vae.config.latents_mean, encoder.vae.config.latents_std)
    )
    torch.testing.assert_close(encoder.encode_clip(clip()), (raw - mean) / deviation, atol=1e-5, rtol=0)


@torch.no_grad()
def test_the_small_encoder_keeps_every_fourth_frame() -> None:
    encoder = build(nano(), 0).latent
    canvases = clip()
    latents = encoder.encode_clip(canvases)
    for frame in range(3):
        torch.testing.assert_close(latents[:, :, frame : frame + 1], encoder.encode(canvases[:, 4 * frame]))


@torch.no_grad()
def test_data_dependent_initialisation_gives_every_latent_channel_mean_0_and_deviation_1() -> None:
    torch.manual_seed(0)
    encoder = ConvLatent(CONV)
    canvases = drawn_canvases(nano(), 0)
    assert float(encoder.encode(canvases).std()) < 0.5
    encoder.initialise_from(canvases)
    latents = encoder.encode(canvases)
    torch.testing.assert_close(latents.mean((0, 2, 3, 4)), torch.zeros(6), atol=1e-4, rtol=0)
    torch.testing.assert_close(latents.std((0, 2, 3, 4)), torch.ones(6), atol=1e-3, rtol=0)


def test_pixels_and_pictures_are_inverse() -> None:
    frames = clip(3)
    assert torch.equal(to_uint8(pixels(frames)), frames)


def words(**changed: object) -> TextConfig:
    return TextConfig(**{"kind": "words", "width": 16, "length": 5, "vocabulary": ("a", "b", "c"), **changed})


@torch.no_grad()
def test_the_null_instruction_and_padding_are_zeros() -> None:
    encoder = WordEncoder(words()).eval()
    text = encoder(torch.tensor([[0, 0, 0, 0, 0], [1, 2, 0, 0, 0]]))
    assert not text[0].any()
    assert not text[1, 2:].any()
    assert text[1, :2].abs().min() > 0


@torch.no_grad()
def test_word_order_changes_the_text_and_padding_does_not() -> None:
    encoder = WordEncoder(words()).eval()
    forward, backward = encoder(torch.tensor([[1, 2, 3, 0, 0], [3, 2, 1, 0, 0]]))
    assert float((forward[1] - backward[1]).abs().max()) > 1e-3, "the middle word hears its neighbours"
    short = WordEncoder(words(length=3)).eval()
    state = encoder.state_dict()
    short.load_state_dict({**state, "places": state["places"][:3]})
    torch.testing.assert_close(short(torch.tensor([[1, 2, 3]]))[0], forward[:3], atol=1e-6, rtol=0)


@torch.no_grad()
def test_cached_instructions_return_what_was_stored_and_zeros_for_the_null() -> None:
    encoder = CachedInstructions(words(kind="cached", length=4))
    embedding = torch.randn(4, 16)
    encoder.store(1, embedding)
    text = encoder(torch.tensor([[2], [0]]))
    assert torch.equal(text[0], embedding)
    assert not text[1].any()
