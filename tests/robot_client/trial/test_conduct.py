"""Beginning, going on, breaking off; and one trial on real processes."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from contract.errors import ConfigurationError, RigError
from robot_client.demo.children import start_child
from robot_client.demo.interrupt import Interrupt
from robot_client.demo.settings import RunSettings
from robot_client.trial import command, conduct
from robot_client.trial.attempt import Ended, settled
from robot_client.trial.conduct import Conductor, identity_of
from robot_client.trial.errors import TrialError
from robot_client.trial.keys import Keys, NoKeys
from robot_client.trial.opened import mark_opened
from robot_client.trial.outcome import EPISODES, outcomes_in
from robot_client.trial.plan import Trial, new_trial, write_trial
from robot_client.trial.report import report_of
from tests.robot_client.patient import patient_station
from tests.robot_client.trial.folder import identity, question, trial_in
from tests.waiting import PATIENCE_S


@dataclass
class Scripted:
    """An attempt without processes. `happens(number)` gives what the twin said, or raises."""

    happens: Callable[[int], bool | None]
    seen: list[RunSettings]

    def __call__(self, settings: RunSettings, interrupt: Interrupt, keys: Keys) -> Scripted:
        self.seen.append(settings)
        return self

    def run(self) -> Ended:
        settings = self.seen[-1]
        assert settings.record is not None
        episode = settings.record / f"episode_{len(self.seen) - 1:06}"
        episode.mkdir(parents=True)
        success = self.happens(len(self.seen) - 1)
        return Ended(success, 3.0, "", success is None, episode, True)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    fake = Scripted(lambda number: number % 2 == 0, [])
    monkeypatch.setattr(conduct, "Attempt", fake)
    monkeypatch.setattr(conduct, "identity_of", lambda server, station, keys: identity())
    return fake


def conductor(folder: Path, trial: Trial, said: list[str]) -> Conductor:
    return Conductor(folder, trial, "tcp://127.0.0.1:1", None, NoKeys(), said.append)


def test_a_trial_that_was_broken_off_goes_on_where_it_is(tmp_path: Path, scripted: Scripted) -> None:
    trial, said = trial_in(tmp_path, methods=("constant", "adaptive")), list[str]()
    interrupt = Interrupt()

    def stops_at_three(number: int) -> bool | None:
        interrupt.asked = number == 3
        return None if number == 3 else True

    scripted.happens = stops_at_three
    assert not conductor(tmp_path, trial, said).run(interrupt)
    assert sorted(outcomes_in(tmp_path, trial.id)) == [0, 1, 2]
    scripted.happens = lambda number: True
    assert conductor(tmp_path, trial, said).run(Interrupt())
    assert sorted(outcomes_in(tmp_path, trial.id)) == [0, 1, 2, 3, 4, 5]
    methods = [run.method for run in trial.runs()]
    assert [settings.guidance for settings in scripted.seen] == [*methods[:4], *methods[3:]]
    assert len(list((tmp_path / EPISODES).iterdir())) == 7, "the broken one stays and does not count"
    assert not any(method in line for line in said for method in methods), "the operator is not told"


def test_every_run_carries_its_place_in_the_trial_and_all_methods_of_a_layout_its_seed(
    tmp_path: Path, scripted: Scripted
) -> None:
    trial = trial_in(tmp_path)
    assert conductor(tmp_path, trial, []).run(Interrupt())
    assert [settings.facts["trial_run"] for settings in scripted.seen] == [str(number) for number in range(6)]
    assert {settings.facts["trial"] for settings in scripted.seen} == {trial.id}
    assert [settings.seed for settings in scripted.seen] == [40, 40, 41, 41, 42, 42]
    assert scripted.seen[0].instruction == scripted.seen[1].instruction != ""


def test_a_run_that_fails_to_start_is_said_and_repeated_and_three_in_a_row_end_it(
    tmp_path: Path, scripted: Scripted
) -> None:
    trial, said = trial_in(tmp_path), list[str]()

    def dies(number: int) -> bool | None:
        if number in (0, 1, 3, 4, 5):
            raise RigError("the twin ended")
        return False

    scripted.happens = dies
    with pytest.raises(TrialError, match="3 in a row"):
        conductor(tmp_path, trial, said).run(Interrupt())
    assert sorted(outcomes_in(tmp_path, trial.id)) == [0]
    assert said.count("the twin ended") == 5


def test_another_policy_or_an_opened_order_ends_a_trial(
    tmp_path: Path, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = trial_in(tmp_path)
    other = identity().model_copy(update={"weights_hash": "e" * 64})
    monkeypatch.setattr(conduct, "identity_of", lambda server, station, keys: other)
    with pytest.raises(TrialError, match="weights hash"):
        conductor(tmp_path, trial, []).run(Interrupt())
    mark_opened(tmp_path)
    with pytest.raises(TrialError, match="order was shown"):
        conductor(tmp_path, trial, []).run(Interrupt())
    assert scripted.seen == []


def test_a_trial_goes_on_without_repeating_its_options_and_refuses_others(tmp_path: Path) -> None:
    trial = trial_in(tmp_path)
    nothing = command.Wishes(None, None, None, None, None, None, None)
    assert command._question(tmp_path, nothing) == trial.question
    with pytest.raises(ConfigurationError, match="rounds"):
        command._question(tmp_path, command.Wishes(None, 9, None, None, None, None, None))
    fresh = command._question(tmp_path / "new", nothing)
    assert (fresh.methods, fresh.rounds, fresh.rig) == (("off", "constant", "adaptive"), 10, "sim")
    with pytest.raises(ConfigurationError, match="rounds"):
        command._question(tmp_path / "new", command.Wishes(None, 0, None, None, None, None, None))
    with pytest.raises(ConfigurationError, match="instruction"):
        command._question(tmp_path / "new", command.Wishes(None, None, None, None, None, "ideal", None))


class Pressed:
    """Keys that a person presses one after the other."""

    def __init__(self, keys: str) -> None:
        self._keys = list(keys)

    def pressed(self, timeout_s: float = 0.0) -> str:
        return self._keys.pop(0) if self._keys else ""


def test_a_key_from_before_a_layout_was_asked_for_does_not_set_real_arms_off(
    tmp_path: Path, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second y while the last run ended was taken for "any key": the arms went home while hands set the layout up.
    So was space, which holds everywhere else."""
    forget = Conductor._forget_keys
    trial, said = trial_in(tmp_path, rig="yam", station="yam_example", rounds=1, instruction="go"), list[str]()
    interrupt, waited = Interrupt(), list[float]()

    class Typed(Pressed):
        def pressed(self, timeout_s: float = 0.0) -> str:
            waited.append(timeout_s)
            if len(waited) > 20:
                interrupt.ask()
            return super().pressed(timeout_s)

    keys = Typed("yyy")

    def then_space(conductor: Conductor) -> None:
        forget(conductor)
        keys._keys.append(" ")

    monkeypatch.setattr(Conductor, "_forget_keys", then_space)
    Conductor(tmp_path, trial, "tcp://127.0.0.1:1", None, keys, said.append).run(interrupt)
    asked = [line for line in said if line.startswith("set up layout")]
    assert len(asked) == 1 and waited[4:] and set(waited[4:]) == {0.1}, "a key from after the question is waited for"


@pytest.mark.parametrize(("keys", "success"), [("xy", True), ("?n", False), ("r", None)])
def test_when_the_time_is_over_the_operator_is_asked(keys: str, success: bool | None) -> None:
    ended = Ended(None, 5.0, "", False, Path("e"), True)
    asked: list[str] = []
    verdict = settled(ended, Pressed(keys), Interrupt(), asked.append, judges_itself=False)
    assert (verdict.success, verdict.broken_off) == (success, success is None)
    assert len(asked) == 1


def test_what_judges_itself_or_stopped_by_itself_has_failed_when_the_time_is_over() -> None:
    ended = Ended(None, 5.0, "", False, Path("e"), True)
    assert settled(ended, NoKeys(), Interrupt(), print, judges_itself=True).success is False
    stopped = Ended(None, 5.0, "HOLD: late", False, Path("e"), True)
    assert settled(stopped, NoKeys(), Interrupt(), print, judges_itself=False).success is False


def test_ctrl_c_while_the_operator_is_asked_breaks_the_run_off() -> None:
    with Interrupt() as interrupt:
        os.kill(os.getpid(), signal.SIGINT)
        ended = Ended(None, 5.0, "", False, Path("e"), True)
        assert settled(ended, NoKeys(), interrupt, print, judges_itself=False).broken_off


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    if importlib.util.find_spec("onnxruntime") is None:
        pytest.skip("the server's side is not installed")
    args = ["policy_server.server.scripted_server", "--height", "32", "--width", "32", "--rows", "holding"]
    child = start_child("scripted", [*args, "--stop-with-stdin"], tmp_path, eof=True)
    yield child.wait_for_line("READY ", PATIENCE_S).split()[1]
    child.end(2.0)


class Operator:
    """Says y in the first run and n in the second, as often as asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def pressed(self, timeout_s: float = 0.0) -> str:
        return "yn"[len(list(self._folder.glob(f"{EPISODES}/*/outcome.json")))]


def test_a_trial_on_real_processes_is_recorded_judged_by_keys_and_reported(server: str, tmp_path: Path) -> None:
    """Loop, planner, recorder and server as in a run on arms; the ideal rig and a scripted policy."""
    folder = tmp_path / "trial"
    station = str(patient_station(tmp_path))
    asked = question(rig="ideal", rounds=1, instruction="go", seconds=2.0, station=station)
    trial = new_trial(asked, identity_of(server, station, None))
    write_trial(folder, trial)
    said: list[str] = []
    with Interrupt() as interrupt:
        assert Conductor(folder, trial, server, None, Operator(folder), said.append).run(interrupt), said
    outcomes = outcomes_in(folder, trial.id)
    assert [outcome.success for _, outcome in outcomes.values()] == [True, False]
    assert all(outcome.judge == "operator" and outcome.complete for _, outcome in outcomes.values()), said
    report = report_of(folder)
    first = trial.runs()[0].method
    assert report["methods"][first]["success"]["successes"] == 1
    assert report["methods"][first]["temporal_ratio"]["success"]["p50"] == 1.0, "what the script answers"
