"""`yam-robot episode policy`: replay through a policy server, against the episode's own answers or accepted ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from rich.console import Console

from contract.errors import ConfigurationError, EpisodeError
from contract.server_info import ServerInfo
from contract.types import GuidanceMode
from robot_client.episodes.policy_page import write_policy_page
from robot_client.episodes.policy_replay import replay
from robot_client.episodes.policy_report import PolicyReport, Tolerance, identity
from robot_client.episodes.policy_server import SESSION, linked, roles_of, serving
from robot_client.episodes.reader import BagReader
from robot_client.episodes.references import accept, read_references
from robot_client.episodes.replans import LoggedReplan, ReplanReader
from robot_client.link.policy_link import PolicyLink


@dataclass(frozen=True, slots=True)
class PolicyReplaySettings:
    """One replay. `references`: compare with these answers; with `accepts` they are written instead."""

    path: Path
    server: str
    bundle: Path | None
    threads: int
    tolerance: Tolerance
    guidance: GuidanceMode | None
    references: Path | None
    accepts: bool
    out: Path

    def check(self) -> None:
        """Raises `ConfigurationError` when there is no policy or nowhere to accept to."""
        if bool(self.server) == (self.bundle is not None):
            got = "both" if self.server else "neither"
            raise ConfigurationError("policy", expected="--server or --bundle", got=got, remedy="give one")
        if self.accepts and self.references is None:
            raise ConfigurationError("--accept", expected="--references FILE to write", got="none", remedy="name it")


def run_policy_replay(settings: PolicyReplaySettings, console: Console) -> int:
    """0 when everything is within the tolerance, 1 when not."""
    settings.check()
    reader = ReplanReader(BagReader(settings.path))
    replans = reader.replans()
    first = next(replans, None)
    if first is None:
        raise EpisodeError(f"{settings.path}", expected="observations", got="none", remedy="record with --record")
    with (
        serving(settings.server, settings.bundle, settings.threads, settings.out.parent / "logs") as address,
        linked(address, roles_of(first.observation)) as (link, info),
    ):
        if settings.accepts and settings.references is not None:
            answers = accept(settings.references, chain([first], replans), link, SESSION, info.weights_hash)
            console.print(f"accepted {len(answers)} answers of {identity(info)}: {settings.references}", soft_wrap=True)
            return 0 if answers else 1
        return _compare(settings, console, reader, chain([first], replans), link, info)


def _compare(
    settings: PolicyReplaySettings,
    console: Console,
    reader: ReplanReader,
    replans: Iterator[LoggedReplan],
    link: PolicyLink,
    info: ServerInfo,
) -> int:
    expected, was = None, ""
    if settings.references is not None:
        weights, expected = read_references(settings.references)
        was = f"{settings.references}, weights {weights[:12]}"
    compared = replay(replans, link, SESSION, expected, settings.guidance)
    report = PolicyReport(compared, settings.tolerance, was or identity(reader.server_info), identity(info))
    report.show(console)
    report.write_json(settings.out)
    page = settings.out.with_suffix(".html")
    write_policy_page(page, report, settings.path.name)
    console.print(f"report: {settings.out}, {page}", highlight=False, soft_wrap=True)
    return 0 if report.passed else 1
