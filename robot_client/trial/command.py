"""`yam-robot trial` and `yam-robot trial report DIR`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rich.console import Console

from contract.errors import ConfigurationError
from robot_client.demo.command import default_bundle
from robot_client.demo.interrupt import Interrupt
from robot_client.episodes.policy_server import serving
from robot_client.last_words import arms_named_last
from robot_client.process_config import RigKind
from robot_client.trial.conduct import Conductor, identity_of, question_of
from robot_client.trial.keys import Keys, NoKeys, terminal_keys
from robot_client.trial.plan import NAME, Question, checked_methods, differences, new_trial, read_trial, write_trial
from robot_client.trial.report import report_of
from robot_client.trial.shown import lines_of, table_of

Act = Literal["run", "report"]
_ROUNDS: Final = 10
_SECONDS: Final = 40.0
_METHODS: Final = "off,constant,adaptive"
_WIDTH: Final = 150


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person gave on the command line; None: not said, so what the trial says, or the default of a new one."""

    methods: str | None
    rounds: int | None
    seconds: float | None
    seed: int | None
    instruction: str | None
    rig: RigKind | None
    station: str | None


def run_trial(folder: Path, wishes: Wishes, server: str, bundle: Path | None, keys: Path | None) -> int:
    """Begin a trial or go on with one; 0 when all its runs are done, 1 when there is more to do."""
    question = _question(folder, wishes)
    with Interrupt() as interrupt, arms_named_last(question.rig, question.station, print):
        try:
            interrupt.starting()
            own = None if server else bundle or default_bundle()
            with serving(server, own, 1, folder / "logs") as address, _keys(question) as pressed:
                done = _conduct(folder, question, (address, keys), pressed, interrupt)
        except KeyboardInterrupt:
            done = False
        if done:
            print(f"all runs are done: yam-robot trial report {folder}")
        else:
            print(f"stopped; the same command goes on: yam-robot trial run {folder}")
    return 0 if done else 1


def show_report(folder: Path, unfinished: bool) -> int:
    """The report of a finished trial, or of one that is ended by it."""
    report = report_of(folder, unfinished)
    console = Console(markup=False)
    console = console if console.is_terminal else Console(markup=False, width=_WIDTH)
    console.print(table_of(report))
    for line in lines_of(report):
        console.print(line, highlight=False, soft_wrap=True)
    return 0


def _conduct(
    folder: Path, question: Question, reached: tuple[str, Path | None], pressed: Keys, interrupt: Interrupt
) -> bool:
    address, keys = reached
    if not (folder / NAME).exists():
        write_trial(folder, new_trial(question, identity_of(address, question.station, keys)))
    interrupt.running()
    return Conductor(folder, read_trial(folder), address, keys, pressed, print).run(interrupt)


def _question(folder: Path, wishes: Wishes) -> Question:
    """That of the trial that is there, or a new one. Raises `ConfigurationError` when a wish contradicts the former."""
    there = read_trial(folder).question if (folder / NAME).exists() else None
    asked = question_of(
        wishes.rig or (there.rig if there else "sim"),
        wishes.station or (there.station if there else "twin"),
        checked_methods(wishes.methods or (",".join(there.methods) if there else _METHODS)),
        (
            wishes.rounds if wishes.rounds is not None else there.rounds if there else _ROUNDS,
            wishes.seconds if wishes.seconds is not None else there.seconds if there else _SECONDS,
            wishes.seed if wishes.seed is not None else there.seed if there else 0,
        ),
        wishes.instruction if wishes.instruction is not None else there.instruction if there else "",
    )
    if there is not None and (other := differences(asked, there)):
        raise ConfigurationError(
            ", ".join(other),
            expected=", ".join(str(getattr(there, name)) for name in other),
            got=", ".join(str(getattr(asked, name)) for name in other),
            remedy=f"the trial in {folder} is fixed; choose another folder for another question",
        )
    if asked.rig != "sim" and not asked.instruction:
        raise ConfigurationError("instruction", expected="what the policy is told", got="nothing")
    return asked


def _keys(question: Question) -> AbstractContextManager[Keys]:
    return nullcontext(NoKeys()) if question.rig == "sim" else terminal_keys()
