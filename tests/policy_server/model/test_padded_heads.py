"""Heads widened for fused kernels: the same outputs and the same masses as the narrow arithmetic with its mask."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from policy_server.model.attention import MASKED, attend
from policy_server.model.graphs import CONTEXT_INPUTS
from policy_server.model.head import build_head
from policy_server.model.head_flow import FlowTransformerHead
from policy_server.model.padded_heads import attend_wide, kernel_width, widen, widen_keys
from policy_server.model.policy import sample_chunk
from tests.policy_server.model.nano import nano
from tests.policy_server.model.test_heads import MODELS, inputs


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@settings(max_examples=40, deadline=None)
@given(
    head_dim=st.sampled_from([8, 16, 24, 32, 64, 96, 126, 128]),
    keys=st.integers(3, 40),
    rows=st.integers(1, 16),
    hidden=st.integers(0, 2),
    seed=st.integers(0, 1000),
)
def test_a_widened_head_sees_what_the_narrow_one_sees(
    head_dim: int, keys: int, rows: int, hidden: int, seed: int
) -> None:
    query, key, value = (drawn(seed + i, 2, 3, n, head_dim) for i, n in enumerate((rows, keys, keys)))
    columns = torch.zeros(keys, 2)
    columns[0, 0] = columns[1:3, 1] = 1.0
    masked = torch.zeros(2, keys)
    masked[0, keys - hidden :] = 1.0
    wanted = attend(query, key, torch.cat([value, columns.expand(2, 3, keys, 2)], -1), masked[:, None, None] * MASKED)
    seen, masses = attend_wide(query, widen_keys(key, masked), widen(value, columns))
    torch.testing.assert_close(seen, wanted[..., :head_dim], atol=5e-6, rtol=0)
    torch.testing.assert_close(masses, wanted[..., head_dim:], atol=1e-6, rtol=0)


@pytest.mark.parametrize(("head_dim", "width"), [(8, 16), (14, 16), (24, 32), (64, 72), (128, 136)])
def test_widths_are_multiples_of_eight_with_room_for_the_columns(head_dim: int, width: int) -> None:
    assert kernel_width(head_dim) == width
    assert widen(torch.ones(1, 1, 3, head_dim), torch.ones(3, 2)).shape[-1] == width


def test_a_hidden_key_has_no_mass_at_all() -> None:
    query, key = drawn(1, 1, 2, 4, 8), drawn(2, 1, 2, 6, 8)
    columns = torch.tensor([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3)
    _, masses = attend_wide(query, widen_keys(key, columns[:, 1][None]), widen(drawn(3, 1, 2, 6, 8), columns))
    assert float(masses[..., 1].abs().max()) == 0.0
    torch.testing.assert_close(masses[..., 0], torch.ones(1, 2, 4), atol=1e-6, rtol=0)


def fused() -> FlowTransformerHead:
    """The tests' flow transformer with the same weights on the fused kernel."""
    config = nano().model_copy(update={"head": nano().head.model_copy(update={"kernel": "fused"})})
    head = build_head(config)
    head.load_state_dict(MODELS["flow_transformer"].head.state_dict())
    assert isinstance(head, FlowTransformerHead)
    return head.eval()


@torch.no_grad()
@pytest.mark.parametrize("keep", [(1.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
def test_the_fused_head_gives_the_velocity_and_masses_of_the_plain_one(keep: tuple[float, float]) -> None:
    given_values = {**inputs(), "future_keep": torch.tensor(keep)}
    outputs = []
    for head in (MODELS["flow_transformer"].head, fused()):
        context = head.context(*(given_values[name] for name in CONTEXT_INPUTS))
        assert len(context) == len(head.context_outputs)
        outputs.append(head.action_step(given_values["rows"], given_values["times"], *context))
    (velocity, masses), (wide_velocity, wide_masses) = outputs
    assert wide_masses.shape == masses.shape
    torch.testing.assert_close(wide_masses, masses, atol=1e-6, rtol=0)
    torch.testing.assert_close(wide_velocity, velocity, atol=2e-5, rtol=0)


@torch.no_grad()
def test_chunks_of_the_fused_head_are_those_of_the_plain_one() -> None:
    model, given_values = MODELS["flow_transformer"], inputs()
    noise, prefix = drawn(5, 2, 6, 14), drawn(6, 2, 2, 14)
    plain = model.head
    chunks = []
    try:
        for head in (plain, fused()):
            model.head = head
            context = head.context(*(given_values[name] for name in CONTEXT_INPUTS))
            chunks.append(sample_chunk(model, context, noise, prefix, 5))
    finally:
        model.head = plain
    torch.testing.assert_close(chunks[1], chunks[0], atol=1e-5, rtol=0)
