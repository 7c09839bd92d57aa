"""What is not finite is never an answer (B23)."""

import numpy as np
import pytest

from contract.errors import EngineError
from contract.layout import SIZE
from policy_server.engines.scripted import Fault
from tests.policy_server.pipeline import HIGH, Bench, bench

STAGES = ["encode", "text", "video_step", "video_tap", "context", "action_step"]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("how", ["nan", "infinite", "raise"])
def test_what_is_not_finite_anywhere_is_an_error_naming_the_stage_and_never_an_answer(kind, stage, how):
    """B23: one NaN dropped an arm; a clamp had turned it into an end stop."""
    one = bench(kind)
    one.engine.faults.add(Fault(stage, 0, how))
    with pytest.raises(EngineError, match=stage):
        one.replan()
    assert one.replan().rows.shape == (16, SIZE), "the next good question is answered"


@pytest.mark.parametrize("call", [0, 2, 3, 4, 7])
def test_the_flow_step_at_fault_is_named_in_either_pass(call):
    """B23: the message names where."""
    one = bench(future_mass=HIGH)
    one.engine.faults.add(Fault("action_step", call, "nan"))
    with pytest.raises(EngineError, match=f"action_step, step {call % one.manifest.head.flow_steps}"):
        one.replan()


def test_rows_that_overflow_on_the_way_out_are_an_error():
    """B23: finite for the head, infinite as float32 targets."""
    one = bench()
    one.script.rows, one.script.influence = np.full((16, SIZE), 3e38, np.float32), 0.0
    action = one.manifest.action
    steep = action.statistics[0].model_copy(update={"scale": (1e6,) * SIZE})
    manifest = one.manifest.model_copy(update={"action": action.model_copy(update={"statistics": (steep,)})})
    with pytest.raises(EngineError, match="rows of denormalisation"):
        Bench(manifest, one.script).replan(joints=np.zeros(SIZE, np.float32))
