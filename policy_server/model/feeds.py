"""Arrays for the inputs of a graph, checked before torch sees them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError
from policy_server.model.graphs import Graph


def checked_feed(graph: Graph, name: str, feeds: Mapping[str, NDArray]) -> NDArray:
    """The array for one input, contiguous. Raises `EngineError` when it is missing or of another shape or dtype."""
    if name not in feeds:
        raise EngineError(f"input {name} of {graph.name}", expected="an array", got="none", remedy="feed it")
    array, example = feeds[name], graph.inputs[name]
    fixed = tuple(example.shape[1:] if graph.branches else example.shape)
    shape = tuple(array.shape[1:] if graph.branches else array.shape)
    dtype = str(example.dtype).removeprefix("torch.")
    if shape != fixed or array.ndim != example.ndim or str(array.dtype) != dtype:
        wanted = f"{dtype} {('B', *fixed) if graph.branches else fixed}"
        raise EngineError(f"input {name} of {graph.name}", expected=wanted, got=f"{array.dtype} {array.shape}")
    return np.ascontiguousarray(array)
