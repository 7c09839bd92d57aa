"""A card that fails under a running server: a typed error, FAULT, READY again when it comes back; a hang ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from contract.bodies import Message
from contract.errors import EngineError
from contract.messages import ErrorReply, Ping, Pong
from contract.types import ActionChunk
from policy_server.bundle import load_bundle
from policy_server.compiled.branches import Branches
from policy_server.compiled.build import build_engines
from policy_server.compiled.cache import EngineCache
from policy_server.compiled.machine import Machine
from policy_server.engines.compiled_engine import CompiledEngine
from policy_server.engines.onnxruntime_engine import OnnxRuntimeEngine
from policy_server.engines.stub_runtime import FaultKind, Faults, StubRuntime
from policy_server.policy import Policy
from policy_server.server.background import ANY_PORT, background_server
from policy_server.server.settings import ServeSettings
from policy_server.server.visitor import Visitor, visit
from policy_server.warm_up import neutral_observation
from tests.policy_server.compiled.fake_compiler import FakeCompiler
from tests.waiting import PATIENCE_S

BUNDLE = Path(__file__).resolve().parents[3] / "bundles" / "trained-foresight"
HERE = Machine("tensorrt_rtx", "1.7.1", "sm120", "a stub", "13.0")


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def load(tmp_path: Path, faults: Faults) -> Callable[[], Policy]:
    """The shipped bundle on compiled engines whose card is a stub."""
    bundle = load_bundle(BUNDLE)
    folder = tmp_path / "engines"
    build_engines(bundle, FakeCompiler(), Branches(), folder, EngineCache(tmp_path / "cache"), lambda line: None)

    def policy() -> Policy:
        runtime = StubRuntime(HERE, OnnxRuntimeEngine.load(bundle, 1), faults)
        return Policy(bundle.manifest, CompiledEngine.load(runtime, bundle, folder, "tensorrt_rtx"))

    return policy


def ask(guest: Visitor, sequence: int) -> Message:
    asked = neutral_observation(load_bundle(BUNDLE).manifest)
    return guest.ask(replace(asked, session=guest.session, sequence=sequence), PATIENCE_S)


@pytest.mark.parametrize("kind", ["out_of_memory", "raise", "nan"])
@pytest.mark.parametrize("graph", ["video_tap", "action_step"])
def test_a_failing_card_is_a_typed_error_and_the_server_recovers(
    kind: FaultKind, graph: str, load: Callable[[], Policy], faults: Faults
) -> None:
    with background_server(load) as server, visit(server.endpoint, PATIENCE_S) as guest:
        assert isinstance(ask(guest, 1), ActionChunk)
        faults.active[graph] = kind
        refusal = ask(guest, 2)
        assert isinstance(refusal, ErrorReply) and refusal.code == "engine"
        pong = guest.ask(Ping(guest.session, 1), PATIENCE_S)
        assert isinstance(pong, Pong) and pong.state == "FAULT"
        faults.active.clear()
        assert isinstance(ask(guest, 3), ActionChunk)
        assert server.server.state == "READY"


def test_a_card_that_hangs_ends_the_server_after_telling_its_client(load: Callable[[], Policy], faults: Faults) -> None:
    settings = ServeSettings(bind=ANY_PORT, hang_s=0.5)
    with background_server(load, settings) as server, visit(server.endpoint, PATIENCE_S) as guest:
        faults.active["video_tap"] = "hang"
        refusal = ask(guest, 1)
        assert isinstance(refusal, ErrorReply) and refusal.code == "engine"
        assert server.wait(PATIENCE_S) and isinstance(server.failure, EngineError)
        faults.released.set()


def test_a_card_that_fails_while_warming_up_never_gets_ready(load: Callable[[], Policy], faults: Faults) -> None:
    faults.active["context"] = "out_of_memory"
    with background_server(load) as server:
        assert server.wait(PATIENCE_S)
        assert isinstance(server.failure, EngineError) and "out of memory" in str(server.failure)
