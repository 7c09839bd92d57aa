"""A person at the terminal: keys, what the loop is told, and a whole run by hand on a terminal of its own."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robot_client.demo.controls import Controls
from robot_client.terminal_keys import TerminalKeys


def _controls(policy: bool = True, leader: bool = True) -> tuple[Controls, list[tuple[str, str]]]:
    told: list[tuple[str, str]] = []
    return Controls(lambda act, text: told.append((act, text)), policy, leader), told


def test_each_key_tells_the_loop_one_thing() -> None:
    controls, told = _controls()
    for key in "ptth [] uk":
        controls.press(key)
    assert told == [
        ("engage", ""),
        ("teleop", "both"),
        ("teleop", "both"),
        ("hold", ""),
        ("hold", ""),
        ("teleop", "left"),
        ("teleop", "right"),
        ("hold", ""),
        ("release", ""),
        ("park", ""),
    ]
    assert not controls.ended
    controls.press("q")
    assert controls.ended


def test_the_clutch_key_opens_and_closes_and_a_new_handoff_closes_it() -> None:
    controls, told = _controls()
    for key in "xxxtx":
        controls.press(key)
    words = [text for act, text in told if act == "clutch"]
    assert words == ["open", "close", "open", "open"]


def test_keys_of_a_keyboard_leader_go_to_it_and_no_stop_ever_does() -> None:
    controls, told = _controls()
    jogged: list[str] = []
    controls.jog = lambda key: bool(jogged.append(key)) or True
    for key in "wh +q":
        assert controls.press(key)
    assert jogged == ["w", "+"]
    assert told == [("hold", ""), ("hold", "")]


def test_without_a_leader_its_keys_mean_nothing_and_are_not_offered() -> None:
    controls, told = _controls(leader=False)
    assert not controls.press("x")
    assert "teleop" not in controls.help
    assert "policy" in controls.help
    assert told == []


def test_a_terminal_gives_single_keys_and_gets_its_settings_back() -> None:
    import termios

    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    with TerminalKeys(theirs) as keys:
        assert keys.present
        assert keys.take() == ""
        os.write(ours, b"th")
        end = time.monotonic() + 60.0
        typed = ""
        while typed != "th" and time.monotonic() < end:
            typed += keys.take()
        assert typed == "th"
        os.write(ours, b"\x1b[A")
        time.sleep(0.05)
        assert keys.take() == "", "arrows are no keys of ours"
        assert termios.tcgetattr(theirs)[3] & termios.ISIG, "Ctrl-C stays a signal"
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        (b"\x1b[A ", " "),
        (b"\x1b ", " "),
        (b"\x1bh", "h"),
        (b"h\x1b[C", "h"),
        (b"p\x1bOP\x1b[15~\x1b[1;5Dq", "pq"),
        (b"[\x1b[", "[["),
        (b"\x1b[h", "[h"),
        (b"w" * 70, " "),
        (b"place the red brick on the blue plate, then put the green one beside it", " "),
    ],
)
def test_an_arrow_beside_other_keys_takes_none_of_them_away_and_adds_none(typed: bytes, keys: str) -> None:
    """A hold typed right after an arrow or Esc was lost with it; an arrow typed right after a hold was read as "[" and
    handed the left arm to the leader. A long paste was obeyed letter by letter: t, teleoperation; p, the policy."""
    ours, theirs = pty.openpty()
    with TerminalKeys(theirs) as terminal:
        os.write(ours, typed)
        assert terminal.take(10.0) == keys
        assert terminal.take() == ""
    os.close(ours)
    os.close(theirs)


def test_stops_are_the_same_with_caps_lock_on() -> None:
    """H was no key: a person saw the arms move on."""
    controls, told = _controls()
    assert controls.press("H") and told == [("hold", "")]
    assert controls.press("Q") and controls.ended


def test_ctrl_s_stops_no_output_and_so_no_keys() -> None:
    """The screen stood still, the process that reads the keys waited for it, and a hold was not heard."""
    ours, theirs = pty.openpty()
    with TerminalKeys(theirs) as terminal:
        os.write(ours, b"\x13 ")
        assert terminal.take(10.0)[-1:] == " "
        os.set_blocking(theirs, False)
        assert os.write(theirs, b"still heard") == len(b"still heard")
    os.close(ours)
    os.close(theirs)


def test_what_was_typed_before_the_keys_are_ours_is_none_of_them() -> None:
    """Two commands pasted into a shell at once: the letters of the second were keys of the first one's run, p the
    policy and k the park pose."""
    ours, theirs = pty.openpty()
    os.write(ours, b"yam-robot park --station mine\n")
    assert select.select([theirs], [], [], 10.0)[0]
    with TerminalKeys(theirs) as terminal:
        assert terminal.take() == ""
    os.close(ours)
    os.close(theirs)


def test_where_there_is_no_terminal_there_are_no_keys() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"p")
    with TerminalKeys(reading) as keys:
        assert not keys.present
        assert keys.take() == ""
    os.close(reading)
    os.close(writing)


def test_a_person_takes_over_jogs_holds_resumes_and_ends_from_a_terminal(tmp_path: Path) -> None:
    """The whole thing on the ideal rig: keys typed into a real terminal, modes read off the screen."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from robot_client.cli import main; main()", "teleop", "--rig", "ideal"]
    process = subprocess.Popen(
        [*command, "--leader", "keyboard", "--out", str(tmp_path)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200", "LINES": "60"},
        start_new_session=True,
    )
    os.close(theirs)
    os.set_blocking(ours, False)
    seen = ""

    def until(mode: str, key: str = "") -> None:
        nonlocal seen
        seen, pressed_s = "", 0.0
        end = time.monotonic() + 90.0  # the machine may be busy
        while not re.search(rf"mode\s.*{mode}", seen):
            assert time.monotonic() < end, f"no {mode}: {seen[-2000:]}"
            if key and time.monotonic() - pressed_s > 5.0:
                pressed_s = time.monotonic()
                os.write(ours, key.encode())
            seen += _read(ours)
            time.sleep(0.05)

    try:
        until("IDLE")
        until("TELEOP", "t")
        os.write(ours, b"++w")
        until("HOLD", "h")
        until("TELEOP", "]")
        os.write(ours, b"q")
        said, end = "", time.monotonic() + 60.0
        while process.poll() is None and time.monotonic() < end:
            said += _read(ours)  # a terminal that nobody reads stops whoever writes to it
            time.sleep(0.05)
        assert process.returncode == 0
        assert re.search(r"arms:\s+HOLD: pose:park reached", said + _read(ours)), said[-1000:]
    finally:
        process.kill()
        process.wait(60.0)
        os.close(ours)


def _read(descriptor: int) -> str:
    try:
        text = os.read(descriptor, 1 << 16).decode(errors="replace")
    except (BlockingIOError, OSError):
        return ""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
