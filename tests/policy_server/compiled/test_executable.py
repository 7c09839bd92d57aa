"""The executable's logic on a card made of numpy: fixed buffers, one capture a shape, outputs that stay."""

from __future__ import annotations

import numpy as np
import pytest

from contract.errors import EngineError
from policy_server.engines.tensorrt_runtime import TensorRtExecutable
from tests.policy_server.compiled.numpy_device import API, DoublingEngine, NumpyDevice


def executable(device: NumpyDevice, refuse: bool = False) -> TensorRtExecutable:
    return TensorRtExecutable("double", DoublingEngine(device, refuse), API, device)  # type: ignore[arg-type]


def x(branches: int, value: float = 1.0) -> dict[str, np.ndarray]:
    return {"x": np.full((branches, 3), value, np.float32)}


def test_answers_are_right_for_every_number_of_branches_and_on_replay() -> None:
    run = executable(NumpyDevice()).run
    for branches, value in ((1, 1.0), (3, 2.0), (1, 5.0), (3, 7.0), (2, 9.0)):
        assert run(x(branches, value))["y"].tolist() == [[2 * value] * 3] * branches


def test_nothing_is_allocated_after_loading_and_a_shape_is_captured_once() -> None:
    device = NumpyDevice()
    loaded = executable(device)
    before = {name: each.ctypes.data for name, each in device.buffers.items()}
    for branches in (1, 3, 1, 3, 1):
        loaded.run(x(branches))
    assert {name: each.ctypes.data for name, each in device.buffers.items()} == before
    assert device.log.count("capture") == 2
    assert device.log.count("replay") == 3


def test_a_run_waits_for_the_device_once() -> None:
    device = NumpyDevice()
    executable(device).run(x(2))
    assert device.log == ["up", "run", "capture", "down", "wait"]


def test_outputs_of_an_earlier_run_stay_as_they_were() -> None:
    """A flow loop keeps the masses of every step; a view of the staging buffer would change under it."""
    run = executable(NumpyDevice()).run
    first = run(x(1, 1.0))["y"]
    run(x(1, 50.0))
    assert first.tolist() == [[2.0, 2.0, 2.0]]


def test_a_shape_outside_the_profile_is_refused() -> None:
    with pytest.raises(EngineError, match="shape"):
        executable(NumpyDevice()).run(x(4))


def test_another_dtype_is_refused() -> None:
    with pytest.raises(EngineError, match="float32"):
        executable(NumpyDevice()).run({"x": np.zeros((1, 3))})


def test_a_launch_that_is_refused_is_an_error() -> None:
    with pytest.raises(EngineError, match="the run"):
        executable(NumpyDevice(), refuse=True).run(x(1))


def test_no_room_on_the_card_is_an_error_while_loading() -> None:
    with pytest.raises(EngineError, match="MemoryAllocation"):
        executable(NumpyDevice(room_bytes=10))


def test_closing_gives_every_buffer_back() -> None:
    device = NumpyDevice()
    executable(device).close()
    assert device.buffers == {}
