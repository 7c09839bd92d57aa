"""A Cosmos-Predict2.5 pipeline folder as diffusers saves one, a few hundred thousand numbers in all."""

from __future__ import annotations

from pathlib import Path

import torch
from diffusers import AutoencoderKLWan, CosmosTransformer3DModel
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

CHANNELS, TEXT_WIDTH, HIDDEN, ENCODER_LAYERS, LENGTH = 4, 16, 16, 2, 24
WORDS = ("[PAD]", "[UNK]", "put", "the", "cube", "ball", "in", "bin", "You", "are", "a", "helpful", "assistant")
TEMPLATE = "{% for m in messages %}{% for c in m['content'] %}{{ c['text'] }} {% endfor %}{% endfor %}"


def save_pipeline(folder: Path, seed: int = 0) -> CosmosTransformer3DModel:
    """Write transformer, vae, text_encoder and tokenizer; returns the transformer."""
    torch.manual_seed(seed)
    transformer = CosmosTransformer3DModel(
        in_channels=CHANNELS + 1,
        out_channels=CHANNELS,
        num_attention_heads=2,
        attention_head_dim=24,
        num_layers=2,
        text_embed_dim=TEXT_WIDTH,
        adaln_lora_dim=8,
        max_size=(5, 32, 32),
        extra_pos_embed_type=None,
        concat_padding_mask=False,
        use_crossattn_projection=True,
        crossattn_proj_in_channels=HIDDEN * ENCODER_LAYERS,
        encoder_hidden_states_channels=TEXT_WIDTH,
    )
    # diffusers needs torchvision to make one that resizes a padding mask; the weights are those of one with one more
    # input channel, which is how real folders come.
    widened = transformer.patch_embed.proj
    widened.weight.data = torch.cat([widened.weight.data, torch.randn(widened.weight.shape[0], 4) * 0.1], 1)
    transformer.save_pretrained(str(folder / "transformer"))
    autoencoder().save_pretrained(str(folder / "vae"))
    text_encoder().save_pretrained(str(folder / "text_encoder"))
    tokenizer().save_pretrained(str(folder / "tokenizer"))
    return transformer


def autoencoder() -> AutoencoderKLWan:
    """8 times smaller in space, 4 times in time, as Wan2.1's."""
    return AutoencoderKLWan(
        base_dim=8,
        z_dim=CHANNELS,
        dim_mult=[1, 1, 1, 1],
        num_res_blocks=1,
        latents_mean=[0.1 * i for i in range(CHANNELS)],
        latents_std=[1.0 + 0.1 * i for i in range(CHANNELS)],
    )


def text_encoder() -> Qwen2_5_VLForConditionalGeneration:
    """Qwen2.5-VL, which Cosmos' text encoder is."""
    text = {
        "vocab_size": len(WORDS),
        "hidden_size": HIDDEN,
        "intermediate_size": 32,
        "num_hidden_layers": ENCODER_LAYERS,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "rope_scaling": {"type": "default", "rope_type": "default", "mrope_section": [1, 1, 2]},
        "pad_token_id": 0,
    }
    vision = {"depth": 1, "hidden_size": 16, "num_heads": 2, "intermediate_size": 16, "out_hidden_size": HIDDEN}
    return Qwen2_5_VLForConditionalGeneration(Qwen2_5_VLConfig(text_config=text, vision_config=vision))


def tokenizer() -> PreTrainedTokenizerFast:
    """Words by spaces."""
    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    made = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]")
    made.chat_template = TEMPLATE
    return made
