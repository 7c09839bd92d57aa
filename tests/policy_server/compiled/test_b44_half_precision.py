"""B44: half precision that overflows or drifts does not pass the acceptance test, which says where it went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from policy_server.engines.scripted import ScriptedEngine
from policy_server.engines.scripted_manifest import scripted_manifest
from policy_server.engines.scripted_policy import Script, scripted_engine
from policy_server.verify.acceptance import accept
from policy_server.verify.observations import questions
from tests.policy_server.pipeline import SMALL

MANIFEST = scripted_manifest(SMALL)
SCRIPT = Script(influence=0.1)


def engine() -> ScriptedEngine:
    return scripted_engine(MANIFEST, SCRIPT)


def scaled_in_half(gain: float) -> ReferenceEvaluator:
    """x * gain / gain in float16: the identity, unless it overflows. onnx's evaluator really computes in float16."""
    half, full = TensorProto.FLOAT16, TensorProto.FLOAT
    nodes = [
        helper.make_node("Cast", ["x"], ["h"], to=half),
        helper.make_node("Mul", ["h", "gain"], ["big"]),
        helper.make_node("Div", ["big", "gain"], ["small"]),
        helper.make_node("Cast", ["small"], ["y"], to=full),
    ]
    graph = helper.make_graph(
        nodes,
        "half",
        [helper.make_tensor_value_info("x", full, None)],
        [helper.make_tensor_value_info("y", full, None)],
        [helper.make_tensor("gain", half, [], [gain])],
    )
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)]))


def through(evaluator: ReferenceEvaluator, graph: str, output: str) -> ScriptedEngine:
    """The scripted engine, one output of one graph computed in half precision."""
    changed = engine()
    script = changed.script[graph]

    def function(feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        values = script.function(feeds)
        return {**values, output: evaluator.run(None, {"x": values[output].astype(np.float32)})[0]}

    changed.script[graph] = replace(script, function=function)
    return changed


def verdict(examined: ScriptedEngine) -> tuple[bool, str]:
    found = accept(MANIFEST, examined, engine(), questions(MANIFEST), lambda line: None)
    return found.passed, found.said


def test_an_equal_engine_is_accepted() -> None:
    assert verdict(engine()) == (True, "equal within limits")


def test_half_precision_that_holds_is_accepted() -> None:
    passed, said = verdict(through(scaled_in_half(4.0), "context", "memory"))
    assert passed, said


def test_an_activation_past_the_range_of_fp16_is_refused_at_its_stage() -> None:
    """An activation of 1e5 is infinite in fp16; ONNX Runtime's CPU would compute it in fp32 and see nothing."""
    passed, said = verdict(through(scaled_in_half(60000.0), "context", "memory"))
    assert not passed
    assert "memory of context" in said and "finite" in said


def test_overflow_in_the_flow_names_the_step() -> None:
    passed, said = verdict(through(scaled_in_half(60000.0), "action_step", "velocity"))
    assert not passed
    assert "velocity of action_step, step 0" in said


def test_a_drift_above_a_hundredth_of_a_radian_is_refused_with_the_graph_where_it_began() -> None:
    drifting = engine()
    script = drifting.script["context"]

    def function(feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        values = script.function(feeds)
        return {**values, "memory": values["memory"] + np.float32(0.5)}

    drifting.script["context"] = replace(script, function=function)
    passed, said = verdict(drifting)
    assert not passed
    assert "rows differ by" in said and "context, step 0" in said


def test_a_drift_of_the_temporal_ratio_alone_is_refused() -> None:
    drifting = engine()
    script = drifting.script["action_step"]

    def function(feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        values = script.function(feeds)
        return {**values, "masses": values["masses"] * np.array([1.0, 1.02], np.float32)}

    drifting.script["action_step"] = replace(script, function=function)
    passed, said = verdict(drifting)
    assert not passed and "TR differs by 2" in said


def test_the_questions_hold_twenty_ordinary_ones_and_every_extreme() -> None:
    names = [question.name for question in questions(MANIFEST)]
    assert sum(name.startswith("ordinary") for name in names) >= 20
    assert {"white", "black", "noise", "joints at lower limits", "joints at upper limits"} <= set(names)
