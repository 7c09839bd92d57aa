"""Weights beside the ONNX files: one file for graphs that share them, and one for any graph too big for a protobuf."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import onnx
from onnx import TensorProto, external_data_helper

INLINE_LIMIT_BYTES = 1_500_000_000
"""Above this a graph's weights go beside it: a protobuf ends at 2 GB, with some room for the graph itself."""

SMALL_BYTES = 1024
"""Smaller constants stay in the graph, where shape inference can see them."""

ALIGNMENT_BYTES = 64
"""A cache line; runtimes that map the file round down to a page themselves."""


def save_graph(model: onnx.ModelProto, path: Path, inline_limit: int = INLINE_LIMIT_BYTES) -> None:
    """Write one graph, its weights inside, or in `NAME.weights` beside it when they exceed `inline_limit` bytes."""
    size = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    if size > inline_limit:
        save_sharing({path: model}, path.with_suffix(".weights"))
    else:
        onnx.save_model(model, str(path))


def save_sharing(models: Mapping[Path, onnx.ModelProto], weights: Path) -> None:
    """Write graphs whose weights lie in one file, equal tensors once. All paths are in one folder."""
    places: dict[str, int] = {}
    with weights.open("wb") as stream:
        for model in models.values():
            for tensor in model.graph.initializer:
                _move_out(tensor, stream, weights.name, places)
    for path, model in models.items():
        onnx.save_model(model, str(path))


def _move_out(tensor: TensorProto, stream: BinaryIO, location: str, places: dict[str, int]) -> None:
    """Put one tensor's bytes into the file, or point at the equal bytes already there."""
    data = tensor.raw_data
    if len(data) < SMALL_BYTES:
        return
    digest = hashlib.sha256(data).hexdigest()
    if digest not in places:
        stream.write(b"\0" * (-stream.tell() % ALIGNMENT_BYTES))
        places[digest] = stream.tell()
        stream.write(data)
    # set_external_data keeps raw_data until it is cleared; a plain name without folders is what B45 allows.
    external_data_helper.set_external_data(tensor, location, offset=places[digest], length=len(data))
    tensor.ClearField("raw_data")
