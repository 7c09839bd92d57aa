"""Attention of the action head in the sizes that fused kernels take, the masses on C and F still columns of the values.

A fused kernel wants queries, keys and values of one width, a multiple of eight, and is fastest without a mask of its
own. So each head is widened: values by the two indicator columns, keys by one column that hides a key (MASKED where it
is hidden, else 0), queries by the number that turns this column into the bias after scaling, and all three by zeros.
Zeros add nothing to a product, so the arithmetic is that of the narrow head with its mask.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

from policy_server.model.attention import MASKED

INDICATORS: Final = 2
_MULTIPLE: Final = 8
"""Head sizes of torch's flash and memory-efficient kernels in half precision: 16 bytes."""


def kernel_width(head_dim: int) -> int:
    """The smallest size a kernel takes that has room for the indicator columns of a head of `head_dim`."""
    return -(-(head_dim + INDICATORS) // _MULTIPLE) * _MULTIPLE


def widen(tokens: Tensor, *columns: Tensor) -> Tensor:
    """tokens (..., M, d) with further columns (..., M, c), and zeros up to `kernel_width`."""
    whole = torch.cat([tokens, *(each.expand(*tokens.shape[:-1], each.shape[-1]) for each in columns)], -1)
    return functional.pad(whole, (0, kernel_width(tokens.shape[-1]) - whole.shape[-1]))


def widen_keys(keys: Tensor, hidden: Tensor) -> Tensor:
    """keys (B, ..., M, d); hidden (B, M) is 1 where a key may not be seen, else 0."""
    column = (hidden * MASKED)[..., None]
    for _ in range(keys.dim() - column.dim()):
        column = column.unsqueeze(1)  # not a view of a counted shape: the number of branches must stay free in exports
    return widen(keys, column)


def attend_wide(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """What query (B, heads, H, d) sees of widened keys and values, (B, heads, H, d); its masses (B, heads, H, 2)."""
    head_dim = query.shape[-1]
    # Times the scale below this is 1, so the hiding column of a key is added to the logit as it is.
    asking = torch.full_like(query[..., :1], head_dim**0.5)
    seen = functional.scaled_dot_product_attention(widen(query, asking), key, value, scale=head_dim**-0.5)
    return seen[..., :head_dim], seen[..., head_dim : head_dim + INDICATORS]
