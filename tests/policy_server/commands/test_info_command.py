"""`yam-policy info` and the banner: what a bundle or a running server is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from contract.errors import ConfigurationError, LinkTimeoutError
from contract.manifest import TrCalibration
from policy_server.commands.imagine import Wish, imagine
from policy_server.commands.info import info
from policy_server.commands.serve import other_calibration
from policy_server.server.background import ANY_PORT, background_server
from policy_server.server.keys import make_keys
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from policy_server.server.settings import ServeSettings
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[3]
HERE, THERE = "a" * 64, "b" * 64


def test_a_server_with_keys_is_described_and_imagines_for_whoever_has_them(tmp_path: Path) -> None:
    """`info` and `imagine` had no --keys: a server with keys was silence to them."""
    make_keys(tmp_path / "keys", "robot")
    keys = tmp_path / "keys" / "client_robot"
    settings = ServeSettings(bind=ANY_PORT, keys=tmp_path / "keys")
    with background_server(lambda: ScriptedPolicy(Script(info=scripted_info(8, 12))), settings) as server:
        assert any("scripted" in line for line in info(None, server.endpoint, False, PATIENCE_S, keys))
        said = imagine(None, server.endpoint, Wish("", 1, {}, 0), tmp_path / "strip.png", PATIENCE_S, keys)
        assert "frames" in said
        with pytest.raises(LinkTimeoutError, match="--keys"):
            info(None, server.endpoint, False, 0.5)


def test_a_folder_without_keys_is_named(tmp_path: Path) -> None:
    """A missing key file was a traceback of the key reader."""
    with pytest.raises(ConfigurationError, match=r"client\.key_secret"):
        info(None, "tcp://127.0.0.1:1", False, 0.5, tmp_path)


@pytest.mark.parametrize("command", [["policy_server", "info", "--bundle", "bundles/trained-foresight", "--json"]])
def test_a_reader_that_leaves_early_is_no_traceback(command: list[str]) -> None:
    """`yam-policy info ... | head -1` ended in a BrokenPipeError and a second one when Python flushed at its end."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(PATIENCE_S) == 1
    assert said == ""


def _calibrated(weights_hash: str) -> TrCalibration:
    engine = f"onnxruntime-1.32-cpu/fp32/{weights_hash[:12]}"
    return TrCalibration(quantiles=(0.0, 1.0), replans=50, sigma=1.0, horizon=16, engine_id=engine, source="test")


def test_a_calibration_with_other_weights_is_a_warning() -> None:
    """Nobody compared them: a policy trained on kept the quantiles of the old one, and guidance was set from those."""
    (line,) = other_calibration(_calibrated(THERE), HERE)
    assert line.startswith("WARNING") and THERE[:12] in line and HERE[:12] in line and "yam-policy calibrate" in line


def test_a_calibration_with_the_same_weights_and_none_at_all_are_no_warning() -> None:
    assert other_calibration(_calibrated(HERE), HERE) == []
    assert other_calibration(None, HERE) == []
