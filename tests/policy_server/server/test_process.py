"""The server as a process: ready line, signals, the end of its parent, and what it must not import."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from contract.types import ImagineRequest
from policy_server.server.background import background_server
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from policy_server.server.visitor import visit
from tests.contract.messages_of_all_kinds import observation
from tests.gate import Gate
from tests.policy_server.server.raw_peer import raw_peer
from tests.waiting import PATIENCE_S, until

SCRIPTED = (sys.executable, "-m", "policy_server.server.scripted_server", "--height", "4", "--width", "6")
CLI = (sys.executable, "-c", "from policy_server.cli import main; main()")
AT_ONCE_S = 20.0
"""B33 wants two seconds, and a quiet machine takes one; a busy one may stand still a while. Who waits for the engine
calls of these tests waits for minutes."""
BUNDLE = Path(__file__).parents[3] / "bundles" / "trained-foresight"


@contextmanager
def process(*command: str) -> Iterator[subprocess.Popen[str]]:
    """A running command that never outlives the block."""
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        child.kill()
        child.wait(PATIENCE_S)
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                stream.close()


def ready_endpoint(output: IO[str] | None) -> str:
    """The endpoint in the READY line; LOADING comes first."""
    assert output is not None
    first, second = output.readline().split(), output.readline().split()
    assert first[0] == "LOADING" and second[0] == "READY" and first[1] == second[1]
    return second[1]


def end_of(child: subprocess.Popen[str]) -> tuple[int, str, float]:
    """Exit code, standard error and how long it took to leave."""
    begin_s = time.monotonic()
    code = child.wait(PATIENCE_S)
    took_s = time.monotonic() - begin_s
    return code, child.stderr.read() if child.stderr is not None else "", took_s


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_cleanly_and_at_once(signum: signal.Signals) -> None:
    """B33: code 0, no traceback, and it waits for nothing."""
    with process(*SCRIPTED) as child:
        ready_endpoint(child.stdout)
        child.send_signal(signum)
        code, stderr, took_s = end_of(child)
    assert code == 0 and "Traceback" not in stderr
    assert took_s < AT_ONCE_S


def test_a_signal_during_a_long_engine_call_ends_the_server_all_the_same() -> None:
    """B33."""
    with process(*SCRIPTED, "--latency-ms", "600000") as child, raw_peer(ready_endpoint(child.stdout)) as peer:
        peer.hello()
        peer.say(observation(), 2)
        time.sleep(0.2)
        child.send_signal(signal.SIGTERM)
        code, stderr, took_s = end_of(child)
    assert code == 0 and "Traceback" not in stderr
    assert took_s < AT_ONCE_S


def test_the_end_of_the_server_ends_a_long_imagination_between_two_passes() -> None:
    gate, made = Gate(), list[ScriptedPolicy]()

    def load() -> ScriptedPolicy:
        made.append(ScriptedPolicy(Script(info=scripted_info(4, 6), latency_s=1.0), gate))
        return made[0]

    with background_server(load) as server, raw_peer(server.endpoint) as peer:
        peer.hello()
        peer.say(ImagineRequest(observation(), 10), 2)
        assert gate.entered()
        # `server.stop` waits for the engine, which is let go once the server wants to end.
        threading.Thread(target=lambda: until(lambda: server.server._schedule.closed) and gate.open()).start()
        server.stop()
        assert until(lambda: made[0].closed)
    assert gate.calls == 1


def test_a_signal_while_loading_ends_the_server() -> None:
    with process(*SCRIPTED, "--load-ms", "600000") as child:
        assert child.stdout is not None and child.stdout.readline().startswith("LOADING")
        child.send_signal(signal.SIGINT)
        code, stderr, took_s = end_of(child)
    assert code == 0 and "Traceback" not in stderr and "while the policy was loading" in stderr
    assert took_s < AT_ONCE_S


def test_the_server_ends_with_its_supervisor() -> None:
    """A supervisor that was killed says nothing; its end of the pipe closes."""
    with process(*SCRIPTED, "--stop-with-stdin") as child:
        ready_endpoint(child.stdout)
        assert child.stdin is not None
        child.stdin.close()
        assert child.wait(PATIENCE_S) == 0


def test_without_the_option_the_end_of_standard_input_means_nothing() -> None:
    with process(*SCRIPTED) as child:
        endpoint = ready_endpoint(child.stdout)
        assert child.stdin is not None
        child.stdin.close()
        with visit(endpoint, PATIENCE_S):
            assert child.poll() is None


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("serve", "--bundle", str(BUNDLE), "--bind", "tcp://0.0.0.0:5555"), 2, "--insecure"),
        (("serve", "--bundle", "no/such/bundle", "--bind", "tcp://127.0.0.1:0"), 1, "policy.toml"),
        (("info", "--bundle", "no/such/bundle"), 1, "policy.toml"),
        (("info",), 2, "--bundle or --server"),
        (("info", "--server", "tcp://127.0.0.1:9", "--timeout-s", "0.2"), 1, "tcp://127.0.0.1:9"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(arguments: Sequence[str], code: int, words: str) -> None:
    done = subprocess.run((*CLI, *arguments), capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == code
    assert words in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_shipped_bundle_is_served_and_described_without_torch() -> None:
    pytest.importorskip("onnxruntime")
    with process(*CLI, "serve", "--bundle", str(BUNDLE), "--bind", "tcp://127.0.0.1:0", "--threads", "1") as child:
        endpoint = ready_endpoint(child.stdout)
        with visit(endpoint, PATIENCE_S) as guest:
            assert guest.info.state == "READY" and guest.info.costs_ns["branches_1"] > 0
        mapped = Path(f"/proc/{child.pid}/maps").read_text()
        assert "onnxruntime" in mapped and "torch" not in mapped
        child.send_signal(signal.SIGINT)
        code, stderr, took_s = end_of(child)
    assert code == 0 and took_s < AT_ONCE_S
    assert ("UNTRAINED WEIGHTS" in stderr) == (not guest.info.trained)


def test_the_command_line_itself_imports_neither_torch_nor_an_engine() -> None:
    check = (
        "import sys, policy_server.cli, policy_server.commands.serve, policy_server.commands.info;"
        "print([m for m in ('torch', 'diffusers', 'onnxruntime', 'av', 'cv2') if m in sys.modules])"
    )
    done = subprocess.run((sys.executable, "-c", check), capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert done.stdout.strip() == "[]"
