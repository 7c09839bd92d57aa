"""B33: brings a node into one state, signals it, and looks at how it ends. Used by the test and by `make ros-shutdown`.

Run directly: `python tests/ros/shutdown_states.py ROUNDS RECORD`. RECORD is a file of JSON lines that each ending is
added to; the summary at the end is of the whole file, so that many rounds can be done in several goes.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.waiting import until

EXIT_S: Final = 8.0
ORPHANS_S: Final = 10.0
READY_S: Final = 60.0
STATES: Final = ("no server ever", "idle", "inference in flight", "chunk running", "parking", "recording")
_POLL_S: Final = 0.02


@dataclass(frozen=True)
class Ending:
    """How a node ended."""

    state: str
    signal: str
    code: int
    seconds: float
    output: str
    orphans: tuple[int, ...]
    """Processes it had started that outlived it."""

    @property
    def own_s(self) -> float:
        """What the node itself needed; the rest is the interpreter's way out, which on a busy machine takes longer."""
        found = re.search(r"ended in ([0-9.]+) s", self.output)
        return float(found[1]) if found else float("inf")

    @property
    def fault(self) -> str:
        """What is wrong with it; empty: nothing."""
        if self.code != 0:
            return f"exit code {self.code}"
        if self.own_s > EXIT_S:
            return f"took {self.own_s:.1f} s"
        if "Traceback" in self.output or "already called" in self.output:
            return "a traceback"
        if self.state != "recording" and "arms left in" not in self.output and self.state != "no server ever":
            return "no last word about the arms"
        return f"orphans {self.orphans}" if self.orphans else ""


class Ears:
    """Another process's view: modes by topic, acts by service."""

    def __init__(self) -> None:
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from yam_vam.topics import loop_topics

        self._node = Node("ears")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self.mode = self.word = ""
        mode, diagnostics = loop_topics()["/mode"], loop_topics()["/diagnostics"]
        self._node.create_subscription(mode.kind, mode.name, self._said, mode.qos)
        self._node.create_subscription(diagnostics.kind, diagnostics.name, self._diagnosed, diagnostics.qos)

    def _said(self, message: Any) -> None:
        self.mode = json.loads(message.data)["mode"]

    def _diagnosed(self, message: Any) -> None:
        self.word = next((status.message for status in message.status if status.name == "loop"), self.word)

    def until(self, ready: Callable[[], bool], what: str) -> None:
        """Spin until it is so."""
        until_s = time.monotonic() + READY_S
        while not ready():
            if time.monotonic() > until_s:
                raise AssertionError(f"not within {READY_S:g} s: {what}, mode {self.mode or 'unknown'}, {self.word}")
            self._executor.spin_once(timeout_sec=_POLL_S)

    def ask(self, name: str) -> None:
        """Call a Trigger of the client without waiting for its answer."""
        from std_srvs.srv import Trigger

        client = self._node.create_client(Trigger, f"client/{name}")
        self.until(client.service_is_ready, f"service {name}")
        client.call_async(Trigger.Request())

    def close(self) -> None:
        """The node and its executor."""
        self._executor.shutdown(timeout_sec=1.0)
        self._node.destroy_node()


def ending_of(state: str, number: signal.Signals, folder: Path) -> Ending:
    """Start, bring into the state, signal, wait."""
    with _server(state) as address:
        process = _start(state, address, folder)
        ears = Ears()
        try:
            _bring_into(state, process, ears)
            children = _children(process.pid)
            begun = time.monotonic()
            process.send_signal(number)
            output, _ = process.communicate(timeout=EXIT_S + 60.0)
            seconds = time.monotonic() - begun
        finally:
            ears.close()
            if process.poll() is None:
                process.kill()
                process.wait()

    def left() -> tuple[int, ...]:
        return tuple(pid for pid in children if Path(f"/proc/{pid}").exists() and not _is_zombie(pid))

    orphans = () if until(lambda: not left(), ORPHANS_S) else left()
    return Ending(state, number.name, process.returncode, seconds, output, orphans)


def _start(state: str, address: str, folder: Path) -> subprocess.Popen[str]:
    module, values = "client", {"rig": "ideal", "logs": str(folder), "autostart": "activate"}
    if state == "recording":
        module, values = "recorder", {"directory": str(folder / "episodes"), "autostart": "activate"}
    elif state == "no server ever":
        values |= {"server": "tcp://127.0.0.1:1", "server_timeout_s": "30.0"}
    elif address:
        values |= {"server": address, "server_timeout_s": "30.0", "first_chunk_s": "60.0"}
    parameters = [part for name, value in values.items() for part in ("-p", f"{name}:={value}")]
    return subprocess.Popen(
        [sys.executable, "-m", f"yam_vam.{module}", "--ros-args", *parameters],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _bring_into(state: str, process: subprocess.Popen[str], ears: Ears) -> None:
    if state == "no server ever":
        ears.until(lambda: len(_children(process.pid)) == 2, "loop and planner")
    elif state == "recording":
        ears.until(lambda: _recorder_writes(process), "an open episode")
    else:
        ears.until(lambda: ears.mode == "IDLE", "mode IDLE")
    # Once this process hears the node: an answer takes 0.7 s, and a mode of that length would be missed.
    act, wanted = {
        "inference in flight": ("engage", "HANDOFF"),
        "chunk running": ("engage", "POLICY"),
        "parking": ("park", "PARK"),
    }.get(state, ("", ""))
    if act:
        ears.ask(act)
        ears.until(lambda: ears.mode == wanted, f"mode {wanted}")


def _recorder_writes(process: subprocess.Popen[str]) -> bool:
    for link in Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            if os.readlink(link).endswith(".mcap"):
                return True
        except OSError:
            continue
    return False


@contextmanager
def _server(state: str) -> Iterator[str]:
    if state not in ("inference in flight", "chunk running"):
        yield ""
        return
    process = subprocess.Popen(
        [sys.executable, "-m", "robot_client.faults.scripted_server", "twin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        address = process.stdout.readline().split()[1].decode()
        if state == "inference in flight":
            process.stdin.write(b"slow\n")
            process.stdin.flush()
        yield address
    finally:
        process.stdin.close()
        process.wait(60)


def _children(pid: int) -> tuple[int, ...]:
    tasks = Path(f"/proc/{pid}/task")
    texts = [(task / "children").read_text() for task in tasks.iterdir()] if tasks.is_dir() else []
    return tuple(int(word) for text in texts for word in text.split())


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def main() -> int:
    """Every state with both signals, ROUNDS times; a line for each, and a summary of the record."""
    import tempfile

    import conftest  # paths, and a domain of our own
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    print(f"domain {os.environ['ROS_DOMAIN_ID']}, {conftest.PACKAGE.name}")
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    rounds, record = int(sys.argv[1]), Path(sys.argv[2])
    record.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(rounds):
        for state in STATES:
            for number in (signal.SIGINT, signal.SIGTERM):
                with tempfile.TemporaryDirectory() as folder:
                    ending = ending_of(state, number, Path(folder))
                fault = ending.fault or ("slow" if ending.seconds > EXIT_S else "")
                took = f"{ending.seconds:.2f} s, of it its own {ending.own_s:.2f} s"
                print(f"{state:20} {ending.signal}: {took}, {fault or 'well'}", flush=True)
                entry = {"state": state, "signal": ending.signal, "s": ending.seconds, "own_s": ending.own_s}
                with record.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({**entry, "code": ending.code, "fault": fault}) + "\n")
    rclpy.try_shutdown()
    return summary(record)


def summary(record: Path) -> int:
    """A line for each state; 1 when anything was at fault."""
    entries = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    print(f"{'state':20} endings  slowest, own  slowest, whole  faults")
    for state in STATES:
        of_it = [entry for entry in entries if entry["state"] == state]
        if of_it:
            own, whole = (max(entry[name] for entry in of_it) for name in ("own_s", "s"))
            faults = sorted({entry["fault"] for entry in of_it} - {""})
            count = sum(bool(entry["fault"]) for entry in of_it)
            print(f"{state:20} {len(of_it):7}  {own:10.2f} s  {whole:12.2f} s  {count} {', '.join(faults)}")
    return 1 if any(entry["fault"] for entry in entries) else 0


if __name__ == "__main__":
    sys.exit(main())
