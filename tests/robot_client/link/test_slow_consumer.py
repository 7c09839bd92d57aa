"""B04: cameras faster than the policy, for a shortened time: bounded memory, bounded age, no mixed messages."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from contract.types import ActionChunk, Observation, Skipped
from policy_server.server.background import background_server
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from robot_client.link.proxy import tcp_proxy
from tests.contract.messages_of_all_kinds import ROLES, observation
from tests.robot_client.link.links import link_to, poll_until
from tests.waiting import PATIENCE_S, until

HEIGHT, WIDTH = 480, 640
OBSERVATION_MB = HEIGHT * WIDTH * 3 * len(ROLES) / 1e6
LATENCY_S = 0.2


def resident_mb(pid: str = "self") -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


def numbered_observation(sequence: int) -> Observation:
    """Every pixel of every image carries the frame's number."""
    images = {role: np.full((HEIGHT, WIDTH, 3), sequence % 251, np.uint8) for role in ROLES}
    return observation(HEIGHT, WIDTH, sequence, images=images, stamp_ns=time.monotonic_ns())


def rows_with_pixel_number(asked: Observation, count: int) -> NDArray:
    """Rows carry the frame number that the server saw in the pixels; -1 when pixels disagree among themselves."""
    seen = {int(value) for image in asked.images.values() for value in (image.min(), image.max())}
    return np.full((count, 14), seen.pop() if len(seen) == 1 else -1, np.float32)


def test_memory_and_age_stay_bounded_and_no_message_is_mixed() -> None:
    """B04: three 640x480 cameras at 30 Hz, inference slower than the cameras."""
    script = Script(info=scripted_info(HEIGHT, WIDTH), latency_s=LATENCY_S, rows=rows_with_pixel_number)
    with background_server(lambda: ScriptedPolicy(script)) as server, link_to(server.endpoint) as link:
        link.connect()
        ages_s, memory_mb, skipped, sequence = [], [], 0, 0
        begin_s = next_s = time.monotonic()
        while time.monotonic() - begin_s < 6 or (len(ages_s) < 8 and time.monotonic() - begin_s < PATIENCE_S):
            # What a busy machine makes late does not catch up; answers are fetched however late it is, for those that
            # are not keep their observations.
            sequence, next_s = sequence + 1, max(next_s + 1 / 30, time.monotonic())
            link.submit(numbered_observation(sequence))
            polled = False
            while not polled or time.monotonic() < next_s:
                polled = True
                for answer in link.poll(max(0.0, next_s - time.monotonic())):
                    if isinstance(answer.outcome, ActionChunk):
                        assert answer.outcome.rows[0, 0] == answer.outcome.sequence % 251
                        ages_s.append((answer.answered_ns - answer.outcome.observation_stamp_ns) / 1e9)
                    skipped += isinstance(answer.outcome, Skipped)
            memory_mb.append(resident_mb())
        took_s = time.monotonic() - begin_s
        if sequence < 15 * took_s:
            pytest.skip(f"{sequence} frames in {took_s:.0f} s: too busy a machine for cameras faster than the policy")
        between_s = took_s / max(len(ages_s), 1)
        assert len(ages_s) >= 8
        assert np.median(ages_s) < 3 * between_s, "at most the one in the engine and one that waits lie before it"
        grown_mb = max(memory_mb[len(memory_mb) // 2 :]) - max(memory_mb[: len(memory_mb) // 2])
        unread_mb = (len(memory_mb) // 2 - len(ages_s) / 2) * OBSERVATION_MB
        # A queue would keep all that the server did not read. Allocators of both sides' threads take some dozens of MB,
        # on a busy machine in the second half.
        assert grown_mb < max(unread_mb / 2, 50)
        assert skipped > 30
        counters = server.server.counters
        assert until(lambda: link.poll() is not None and link.counters.answered + link.counters.skipped == sequence)
        assert counters.superseded == link.counters.skipped - link.counters.replaced


def test_a_server_that_stops_reading_costs_the_client_three_observations_of_memory() -> None:
    """B04: queues in front of a stalled peer grew until the process was killed."""
    script = Script(info=scripted_info(HEIGHT, WIDTH))
    with (
        background_server(lambda: ScriptedPolicy(script)) as server,
        tcp_proxy(server.endpoint) as proxy,
        link_to(proxy.address) as link,
    ):
        link.connect()
        link.wait_for(link.submit(numbered_observation(0)))
        proxy.weather.frozen = True
        before_mb = resident_mb()
        for sequence in range(1, 120):
            link.submit(numbered_observation(sequence))
            link.poll()
        assert resident_mb() - before_mb < 60
        assert link.counters.replaced > 100
        proxy.weather.frozen = False
        answers = poll_until(link, lambda answers: bool(answers) and answers[-1].asked.observation.sequence == 119)
        assert isinstance(answers[-1].outcome, ActionChunk)


LEAVE = """
import sys, time
import numpy as np
from tests.contract.messages_of_all_kinds import ROLES, observation
from tests.robot_client.link.links import link_to
with link_to(sys.argv[1]) as link:
    link.connect()
    print("connected", flush=True)
    sys.stdin.readline()
    for sequence in range(4):
        link.submit(observation(480, 640, sequence))
        link.poll()
    begin_s = time.monotonic()
print(time.monotonic() - begin_s, flush=True)
"""


def test_unsent_megabytes_for_a_dead_server_do_not_delay_the_end() -> None:
    """B33: an unsent 3 MB message delayed exit for ever."""
    script = Script(info=scripted_info(HEIGHT, WIDTH))
    with background_server(lambda: ScriptedPolicy(script)) as server, tcp_proxy(server.endpoint) as proxy:
        command = (sys.executable, "-c", LEAVE, proxy.address)
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdin is not None and child.stdout is not None
            assert child.stdout.readline() == "connected\n"
            proxy.weather.frozen = True
            child.stdin.write("go\n")
            child.stdin.flush()
            closing_s = float(child.stdout.readline())
            begin_s = time.monotonic()
            assert child.wait(PATIENCE_S) == 0
            assert closing_s + time.monotonic() - begin_s < 20.0
