"""What a person can get wrong at the command line: one line that says what to do, before anything is opened."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from policy_server import entry

ROOT = Path(__file__).resolve().parents[3]
BUNDLE = str(ROOT / "bundles" / "trained-foresight")


def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[object, str]:
    """Exit code and standard error; standard output must be empty."""
    monkeypatch.setattr(sys, "argv", ["yam-policy", *arguments])
    with pytest.raises(SystemExit) as end:
        entry.main()
    captured = capsys.readouterr()
    assert captured.out == ""
    return end.value.code, captured.err


@pytest.mark.parametrize(
    ("code", "words", "arguments"),
    [
        (1, "policy.toml", ["serve", "--bundle", "/nowhere", "--bind", "tcp://127.0.0.1:0"]),
        (2, "--threads", ["serve", "--bundle", BUNDLE, "--threads", "-1"]),
        (2, "tcp://HOST:PORT", ["serve", "--bundle", BUNDLE, "--bind", "nonsense"]),
        (2, "no keys", ["serve", "--bundle", BUNDLE, "--bind", "tcp://0.0.0.0:5599"]),
        (2, "yam-policy keys", ["serve", "--bundle", BUNDLE, "--keys", "/nowhere"]),
        (2, "HOST:PORT", ["serve", "--bundle", BUNDLE, "--metrics", "127.0.0.1"]),
        (2, "--hang-s", ["serve", "--bundle", BUNDLE, "--bind", "tcp://127.0.0.1:0", "--hang-s", "0"]),
        (2, "either --bundle or --server", ["info"]),
        (2, "tcp://HOST:PORT", ["info", "--server", "rubbish"]),
        (1, "policy.toml", ["info", "--bundle", "README.md"]),
        (2, "folder to write to", ["keys", "/proc/none"]),
        (2, "--client", ["keys", "/tmp", "--client", "../x"]),
        (2, "a picture file", ["imagine", "--bundle", BUNDLE, "--image", "top", "/nowhere.png"]),
        (1, "1 to 10", ["imagine", "--bundle", BUNDLE, "--chunks", "0"]),
        (1, "policy.toml", ["verify", "/nowhere"]),
        (1, "NVIDIA card", ["verify", BUNDLE, "--engine", "tensorrt_rtx"]),
        (2, "--target", ["build", BUNDLE, "--target", "rtx:sm90"]),
        (2, "1 to 3", ["build", BUNDLE, "--target", "rtx:sm120", "--most-branches", "9"]),
        (1, "JSON", ["calibrate", BUNDLE, str(ROOT / "README.md")]),
        (2, "1 or more", ["bench", "wire", "--rounds", "-3"]),
        (1, "policy.toml", ["bench", "wire", "--bundle", "/nowhere"]),
        (2, "tiny, mid, full", ["bench", "engines", "--sizes", "huge"]),
    ],
)
def test_every_mistake_is_one_line_with_its_exit_code(
    code: int,
    words: str,
    arguments: Sequence[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    got, error = said(capsys, monkeypatch, *arguments)
    assert got == code, error
    (line,) = error.strip().splitlines()
    assert line.startswith("yam-policy: ") and words in line


class Impatient(importlib.abc.MetaPathFinder):
    """Somebody who presses Ctrl-C while the rest is imported."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "policy_server.cli":
            raise KeyboardInterrupt


def test_ctrl_c_while_python_still_imports_is_a_stop_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first second of the command gave twenty lines of traceback."""
    monkeypatch.delitem(sys.modules, "policy_server.cli", raising=False)
    monkeypatch.delattr(sys.modules["policy_server"], "cli", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Impatient(), *sys.meta_path])
    with pytest.raises(SystemExit) as end:
        entry.main()
    assert end.value.code == 0


def test_the_command_begins_there() -> None:
    assert 'yam-policy = "policy_server.entry:main"' in (ROOT / "pyproject.toml").read_text()
