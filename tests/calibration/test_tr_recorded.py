"""`yam-calibrate tr` from beginning to end: a policy runs unguided, is recorded, and its bundle gets a scale."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from calibration.commands import app
from calibration.tr import collected
from contract.errors import ConfigurationError
from contract.manifest import BundleManifest
from contract.toml import read_toml
from tests.robot_client.patient import patient_station

ROOT = Path(__file__).resolve().parents[2]
TOLD = {"reach": "put the brick in the bin", "place": "put the brick on the plate"}
_SECONDS = ("9", "60")
"""Each, and once more for a machine that was too slow for `_LEAST` answers."""
_LEAST = 25
"""Answers of each; 50 are needed of both together."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A copy of the shipped bundle, and episodes that it drove unguided, on arms that do what they are told."""
    folder = tmp_path_factory.mktemp("tr")
    bundle = Path(shutil.copytree(ROOT / "bundles/trained-foresight", folder / "bundle", copy_function=os.link))
    station = patient_station(folder)
    station.write_text(station.read_text().replace("replan_rows = 4", "replan_rows = 1"), encoding="utf-8")
    program = str(Path(sys.executable).with_name("yam-robot"))
    where = ["--station", str(station), "--record", str(folder / "episodes"), "--out", str(folder / "run")]
    for instruction in TOLD.values():
        what = ["--bundle", str(bundle), "--instruction", instruction, "--guidance", "off"]
        for s in _SECONDS:
            done = subprocess.run(
                [program, "run", "--rig", "ideal", "--headless", "--leader", "none", *where, *what, "--seconds", s],
                cwd=ROOT, capture_output=True, text=True, timeout=300,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
            if len((folder / "run" / "replans.jsonl").read_text().splitlines()) >= _LEAST:
                break
    return bundle, folder / "episodes"


def tr(bundle: Path, episodes: Path, *more: str) -> None:
    phases = [f"{name}={text}" for name, text in TOLD.items()]
    app.cli(args=["tr", str(bundle), "--episodes", str(episodes), "--phases", *phases, *more])


def _manifest(bundle: Path) -> BundleManifest:
    return BundleManifest.model_validate(read_toml(bundle / "policy.toml"))


def test_recorded_replans_become_quantiles_of_the_bundle_whole_and_by_phase(
    recorded: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    bundle, episodes = recorded
    found = collected([episodes], {text: name for name, text in TOLD.items()})
    assert set(found.by_phase) == set(TOLD) and found.guided == 0
    tr(bundle, episodes, "--q-lo", "0.2", "--q-hi", "0.8")
    stored = _manifest(bundle).tr_calibration
    assert stored is not None and stored.replans == len(found.values) >= 50 and set(stored.phases) == set(TOLD)
    assert stored.quantiles[0] == min(found.values) and stored.quantiles[-1] == max(found.values)
    assert stored.engine_id == found.engine_id
    assert (_manifest(bundle).guidance.q_lo, _manifest(bundle).guidance.q_hi) == (0.2, 0.8)
    said = capsys.readouterr().out
    assert "reach" in said and "#" in said and (tmp_path / "out/calibration/tr.png").stat().st_size > 5000


def test_a_calibration_of_another_engine_is_warned_of_and_replaced(
    recorded: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    bundle, episodes = _altered(recorded, tmp_path, "engine_id", '"other/fp16/000000000000"')
    tr(bundle, episodes, "--look")
    assert "WARNING: the stored calibration is of engine other/fp16" in capsys.readouterr().out
    tr(bundle, episodes)
    stored = _manifest(bundle).tr_calibration
    assert stored is not None and "other" not in stored.engine_id


@pytest.mark.parametrize(("key", "value"), [("sigma", "0.123"), ("horizon", "99")])
def test_a_calibration_of_another_sigma_or_horizon_is_warned_of_and_not_mended_with_old_episodes(
    recorded: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    key: str, value: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    bundle, episodes = _altered(recorded, tmp_path, key, value)
    with pytest.raises(ConfigurationError, match=rf"{key} .*remove \[tr_calibration\]"):
        tr(bundle, episodes)
    assert f"WARNING: the stored calibration is of {key} " in capsys.readouterr().out


def _altered(recorded: tuple[Path, Path], folder: Path, key: str, value: str) -> tuple[Path, Path]:
    """A copy whose stored calibration says something else."""
    tr(*recorded)
    bundle = Path(shutil.copytree(recorded[0], folder / "altered", copy_function=os.link))
    head, _, section = (bundle / "policy.toml").read_text(encoding="utf-8").partition("[tr_calibration]\n")
    lines = [f"{key} = {value}" if line.startswith(f"{key} =") else line for line in section.splitlines()]
    (bundle / "policy.toml").unlink()  # the link, not what it was of
    (bundle / "policy.toml").write_text(f"{head}[tr_calibration]\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return bundle, recorded[1]


def test_a_phase_that_nobody_was_told_is_said_with_what_was_told(
    recorded: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    app.cli(args=["tr", str(recorded[0]), "--episodes", str(recorded[1]), "--phases", "fly=put it away", "--look"])
    said = capsys.readouterr().out
    assert "phase fly: no replan was told 'put it away'" in said and TOLD["reach"] in said
