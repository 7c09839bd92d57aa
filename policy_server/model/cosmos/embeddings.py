"""Instruction embeddings, computed once with the 7B text encoder and kept after the projection: 1 MB a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import torch
from diffusers import Cosmos2_5_PredictBasePipeline
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from contract.errors import BundleError, ConfigurationError
from policy_server.model.cosmos.folder import CosmosFolder
from policy_server.model.pretrained import project_text

NULL_SENTENCE: Final = ""
"""The null instruction: the pipeline's own prompt with nothing in it."""
LENGTH: Final = 512
"""Text tokens per sentence, the pipeline's `max_sequence_length`."""


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """Sentences and what the backbone's cross-attention sees of each."""

    sentences: tuple[str, ...]
    null: Tensor
    """(L, Dt)."""
    table: Tensor
    """(sentences, L, Dt)."""


def embed(folder: CosmosFolder, sentences: Sequence[str], length: int, say: Callable[[str], None]) -> Embeddings:
    """Embed sentences and the null with the folder's text encoder, one at a time.

    Raises `ConfigurationError` for sentences given twice or empty, `BundleError` for a folder without an encoder.
    """
    wanted = _checked(sentences)
    encode = _encoder(folder, length)
    rows = []
    for number, sentence in enumerate((NULL_SENTENCE, *wanted)):
        say(f"[{number + 1}/{len(wanted) + 1}] {sentence or 'the null instruction'}")
        rows.append(encode(sentence))
    return Embeddings(wanted, rows[0], torch.stack(rows[1:]))


def save_embeddings(path: Path, embeddings: Embeddings) -> None:
    """Write them as safetensors, the sentences in its metadata."""
    tensors = {"null": embeddings.null.contiguous(), "table": embeddings.table.contiguous()}
    save_file(tensors, str(path), metadata={"sentences": json.dumps(embeddings.sentences)})


def load_embeddings(path: Path) -> Embeddings:
    """Raises `BundleError` for what is no file of embeddings."""
    try:
        with safe_open(str(path), "pt") as stream:
            sentences = tuple(json.loads((stream.metadata() or {})["sentences"]))
            return Embeddings(sentences, stream.get_tensor("null"), stream.get_tensor("table"))
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise BundleError(
            f"{path}", expected="embeddings", got=error, remedy="make them with `yam-policy embed`"
        ) from error


def _checked(sentences: Sequence[str]) -> tuple[str, ...]:
    cleaned = tuple(sentence.strip() for sentence in sentences)
    twice = sorted({sentence for sentence in cleaned if cleaned.count(sentence) > 1})
    if not cleaned or twice or not all(cleaned):
        raise ConfigurationError(
            "instructions", expected="one sentence a line, each once", got=twice or "an empty line or none",
            remedy="mend the file",
        )  # fmt: skip
    return cleaned


def _encoder(folder: CosmosFolder, length: int) -> Callable[[str], Tensor]:
    text_encoder, tokenizer = _text_parts(folder.path)
    # The pipeline's own method, so that template and normalisation are its; only these three things of it are needed.
    stage = SimpleNamespace(text_encoder=text_encoder, tokenizer=tokenizer, _execution_device=text_encoder.device)
    projects = folder.projects_text()

    @torch.no_grad()
    def encode(sentence: str) -> Tensor:
        hidden = Cosmos2_5_PredictBasePipeline._get_prompt_embeds(stage, sentence, max_sequence_length=length)[0]
        return project_text(folder.transformer, hidden.float()) if projects else hidden.float()

    return encode


def _text_parts(path: Path) -> tuple[Any, Any]:
    from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration

    try:
        encoder = Qwen2_5_VLForConditionalGeneration.from_pretrained(path / "text_encoder", local_files_only=True)
        tokenizer = AutoTokenizer.from_pretrained(path / "tokenizer", local_files_only=True)
    except (OSError, ValueError) as error:
        raise BundleError(
            f"{path}", expected="text_encoder/ and tokenizer/", got=str(error).splitlines()[0][:200],
            remedy="download them too; only `embed` needs them",
        ) from error  # fmt: skip
    return encoder.eval(), tokenizer
