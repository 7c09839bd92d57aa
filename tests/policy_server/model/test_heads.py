from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from policy_server.model.attention import MASKED
from policy_server.model.graphs import CONTEXT_INPUTS, examples
from policy_server.model.head_flow import FlowTransformerHead
from policy_server.model.head_once import ReadOnceHead
from policy_server.model.policy import VideoActionModel, sample_chunk
from policy_server.model.token_places import coordinates, indicators
from policy_server.model.untrained import untrained_model
from tests.policy_server.model.nano import HEADS, nano

CURRENT_TOKENS = 6
MODELS = {kind: untrained_model(3, nano(kind)) for kind in HEADS}


def inputs(batch: int = 2, seed: int = 0) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(value.shape, generator=generator) if name in ("features", "text", "state", "rows") else value
        for name, value in examples(nano(), batch).items()
    }


def context_of(model: VideoActionModel, **changed: Tensor) -> dict[str, Tensor]:
    given_values = {**inputs(), **changed}
    outputs = model.head.context(*(given_values[name] for name in CONTEXT_INPUTS))
    return dict(zip(model.head.context_outputs, outputs, strict=True))


def step(model: VideoActionModel, context: dict[str, Tensor], **changed: Tensor) -> tuple[Tensor, ...]:
    given_values = {**inputs(), **changed}
    memory = [context[name] for name in model.head.step_inputs]
    return model.head.action_step(given_values["rows"], given_values["times"], *memory)


def explicit_masses(query: Tensor, key: Tensor, bias: Tensor) -> Tensor:
    """Softmax weights summed over the current frame's and the future's keys, the long way."""
    weights = torch.softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5 + bias, -1)
    video = nano().token_grid[0] * CURRENT_TOKENS
    return torch.stack([weights[..., :CURRENT_TOKENS].sum(-1), weights[..., CURRENT_TOKENS:video].sum(-1)], -1)


@torch.no_grad()
@pytest.mark.parametrize("keep", [1.0, 0.0])
def test_masses_of_the_flow_transformer_equal_explicit_softmax(keep: float) -> None:
    model = MODELS["flow_transformer"]
    assert isinstance(model.head, FlowTransformerHead)
    context = context_of(model, future_keep=torch.full((2,), keep))
    queries: list[Tensor] = []
    hooks = [
        layer.norm_query.register_forward_hook(lambda module, arguments, output: queries.append(output))
        for layer in model.head.layers
    ]
    masses = step(model, context)[1]
    for hook in hooks:
        hook.remove()
    expected = [explicit_masses(query, context["keys"][:, i], context["key_bias"]) for i, query in enumerate(queries)]
    assert masses.shape == (2, 2, 2, 6, 2)
    torch.testing.assert_close(masses, torch.stack(expected, 1), atol=1e-5, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("keep", [1.0, 0.0])
def test_masses_of_the_read_once_head_equal_explicit_softmax(keep: float) -> None:
    model = MODELS["read_once"]
    assert isinstance(model.head, ReadOnceHead)
    seen: dict[str, Tensor] = {}
    reader = model.head.reader
    hooks = [
        getattr(reader, name).register_forward_hook(
            lambda module, arguments, output, name=name: seen.update({name: output})
        )
        for name in ("norm_query", "norm_key", "value")
    ]
    future_keep = torch.full((2,), keep)
    context = context_of(model, future_keep=future_keep)
    read = reader(
        inputs()["features"], torch.cat([model.head.pool(inputs()["text"]), inputs()["state"]], -1), future_keep
    )
    for hook in hooks:
        hook.remove()
    bias = (1 - keep) * indicators(nano().token_grid)[:, 1] * MASKED
    expected = explicit_masses(seen["norm_query"], seen["norm_key"], bias)
    torch.testing.assert_close(context["masses"], expected[:, None], atol=1e-5, rtol=0)
    weights = torch.softmax(seen["norm_query"] @ seen["norm_key"].transpose(-1, -2) / 8**0.5 + bias, -1)
    places = read[0].unflatten(1, (2, 6, -1))[..., -3:]
    torch.testing.assert_close(places, weights @ coordinates(nano().token_grid), atol=1e-5, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("kind", HEADS)
def test_masking_the_future_is_removing_its_keys(kind: str) -> None:
    model = MODELS[kind]
    masked = context_of(model, future_keep=torch.zeros(2))
    removed = context_of(model, features=inputs()["features"][:, :CURRENT_TOKENS])
    torch.testing.assert_close(step(model, masked)[0], step(model, removed)[0], atol=1e-5, rtol=0)
    kept = context_of(model)
    assert float((step(model, kept)[0] - step(model, masked)[0]).abs().max()) > 1e-3


@torch.no_grad()
@pytest.mark.parametrize("kind", HEADS)
def test_no_mass_falls_on_a_masked_future(kind: str) -> None:
    model = MODELS[kind]
    context = context_of(model, future_keep=torch.tensor([0.0, 1.0]))
    masses = context["masses"] if "masses" in context else step(model, context)[1]
    assert float(masses[0, ..., 1].abs().max()) == 0.0
    assert float(masses[1, ..., 1].min()) > 0.0


@torch.no_grad()
def test_ratio_over_free_rows_equals_explicit_softmax_for_every_prefix_length() -> None:
    """Masses are kept per row, so leaving given rows out needs nothing from the graph and moves no other row's mass."""
    model = MODELS["flow_transformer"]
    context = context_of(model)
    query: list[Tensor] = []
    hook = model.head.layers[1].norm_query.register_forward_hook(lambda module, arguments, output: query.append(output))
    masses = step(model, context)[1][:, 1]
    hook.remove()
    expected = explicit_masses(query[0], context["keys"][:, 1], context["key_bias"])
    for prefix in range(nano().head.max_prefix + 1):
        ratio, wanted = (m[:, :, prefix:].sum((0, 1, 2)) for m in (masses, expected))
        assert float(ratio[1] / ratio[0]) == pytest.approx(float(wanted[1] / wanted[0]), abs=1e-5)


@torch.no_grad()
@settings(max_examples=20, deadline=None)
@given(batch=st.integers(1, 4), seed=st.integers(0, 1000), kind=st.sampled_from(HEADS))
def test_branches_do_not_leak_into_each_other(batch: int, seed: int, kind: str) -> None:
    model = MODELS[kind]
    many = inputs(batch, seed)
    together = step(model, context_of(model, **many), **many)[0]
    for i in range(batch):
        one = {name: value[i : i + 1] for name, value in many.items()}
        torch.testing.assert_close(step(model, context_of(model, **one), **one)[0][0], together[i], atol=1e-4, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("steps", [1, 4, 10])
def test_given_rows_come_back_untouched_and_shape_the_others(kind: str, steps: int) -> None:
    model = MODELS[kind]
    context = tuple(context_of(model).values())
    noise = torch.randn(2, 6, 14, generator=torch.Generator().manual_seed(2))
    prefix = torch.full((2, 3, 14), 0.4)
    chunk = sample_chunk(model, context, noise, prefix, steps)
    assert torch.equal(chunk[:, :3], prefix)
    assert torch.isfinite(chunk).all()
    other = sample_chunk(model, context, noise, -prefix, steps)
    assert float((chunk[:, 3:] - other[:, 3:]).abs().max()) > 1e-3


@torch.no_grad()
@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("name", ["state", "text", "features"])
def test_everything_the_head_is_given_matters(kind: str, name: str) -> None:
    model = MODELS[kind]
    before = step(model, context_of(model))[0]
    after = step(model, context_of(model, **{name: inputs(seed=9)[name]}))[0]
    assert float((before - after).abs().max()) > 1e-3


@pytest.mark.parametrize("kind", HEADS)
def test_every_weight_of_the_head_gets_a_gradient(kind: str) -> None:
    model = untrained_model(3, nano(kind))
    context = context_of(model)
    out = step(model, context)
    (out[0].square().mean()).backward()
    idle = [name for name, weight in model.head.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert not idle
