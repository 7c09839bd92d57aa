"""`yam-policy` commands that make and examine bundles and engines. Each imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro

from policy_server.engines.loading import EngineName


def export(
    checkpoint: Path,
    bundle: Path,
    precision: Literal["fp32", "fp16", "bf16"] = "fp32",
    carry_checkpoint: bool = False,
    lora: Path | None = None,
) -> None:
    """Export a checkpoint folder to a bundle folder.

    Args:
        checkpoint: folder with model.toml and weights.
        bundle: folder to write; an existing bundle there is replaced when the new one is complete.
        precision: of backbone and head. Half precision is for compiled engines; ONNX Runtime's CPU has no bf16.
        carry_checkpoint: put the torch weights into the bundle too, for --engine torch.
        lora: adapter of the backbone, merged into the exported weights and named in policy.toml.
    """
    from policy_server.commands.export import export as run

    run(checkpoint, bundle, precision, carry_checkpoint, lora)


def build(
    bundle: Annotated[Path, tyro.conf.Positional],
    target: str,
    out: Path | None = None,
    most_branches: int = 3,
    cache: Path | None = None,
) -> None:
    """Compile a bundle's graphs for a card. The precision is the bundle's own, chosen when it was exported.

    Args:
        bundle: folder with policy.toml.
        target: rtx:sm120 and other RTX cards, also on a machine without one; rtx:current or trt:current for the card
            in this machine; ort to open the graphs with ONNX Runtime, which compiles nothing.
        out: folder of the engines; default BUNDLE.engines/TARGET beside the bundle.
        most_branches: largest batch of guidance branches.
        cache: folder of engines built before; default ~/.cache/yam-policy/engines.
    """
    from policy_server.commands.build import build as run

    run(bundle, target, out, most_branches, cache)


def verify(
    bundle: Annotated[Path, tyro.conf.Positional],
    engine: EngineName = "onnxruntime",
    engines: Path | None = None,
    reference: Path | None = None,
    episode: Path | None = None,
) -> None:
    """Ask an engine and the fp32 reference the same questions; exit 1 when an answer differs too much.

    Args:
        bundle: folder with policy.toml.
        engine: what is examined. Compiled engines remember the verdict; without a good one they are not served.
        engines: folder of compiled engines, if not the one beside the bundle.
        reference: fp32 bundle of the same checkpoint; default: the bundle itself, which must then be in fp32.
        episode: recorded episode whose observations are asked too.
    """
    from policy_server.commands.verify import verify as run

    run(bundle, engine, engines, reference, episode)


def embed(
    folder: Annotated[Path, tyro.conf.Positional],
    instructions: Path,
    out: Path = Path("instructions.safetensors"),
    length: int = 512,
) -> None:
    """Embed instructions with a Cosmos pipeline's text encoder, once, as its backbone will see them; the null too.

    Args:
        folder: pipeline in diffusers' layout, with text_encoder/ and tokenizer/.
        instructions: text file, one sentence a line.
        out: file to write.
        length: text tokens per sentence.
    """
    from policy_server.commands.cosmos import embed_instructions

    embed_instructions(folder, instructions, out, length)


def adopt(
    folder: Annotated[Path, tyro.conf.Positional],
    checkpoint: Annotated[Path, tyro.conf.Positional],
    embeddings: Path,
    lora: Path | None = None,
    tap_block: int = 18,
    sigma: float = 0.6,
) -> None:
    """Make a checkpoint of a pretrained Cosmos pipeline folder; its head is untrained.

    Args:
        folder: pipeline in diffusers' layout: transformer/ and vae/.
        checkpoint: folder to write.
        embeddings: file made by `yam-policy embed`.
        lora: adapter of the transformer, peft's or diffusers' layout, merged and named.
        tap_block: features are taken after this block, counted from 0.
        sigma: noise level of the future at the tap.
    """
    from policy_server.commands.cosmos import adopt_folder

    adopt_folder(folder, checkpoint, embeddings, lora, tap_block, sigma)
