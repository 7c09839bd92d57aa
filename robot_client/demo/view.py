"""The live terminal view: one screen that says what the robot is doing and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from robot_client.demo.history import SKIPPED, UNDERRUNS
from robot_client.local_messages import LoopStatus, ReplanRecord

_MODE_STYLES = {"POLICY": "bold green", "HOLD": "bold yellow", "FAULT": "bold red", "FALLING": "bold white on red"}
_NS_PER_MS = 1e6


@dataclass(slots=True)
class Seen:
    """The newest of everything the view shows."""

    banner: str
    notice: str
    instruction: str
    elapsed_s: float = 0.0
    seconds: float | None = None
    status: LoopStatus | None = None
    replan: ReplanRecord | None = None
    replans: int = 0
    rate_hz: float = 0.0
    branch_counts: Mapping[str, int] = field(default_factory=dict)
    failure: str = ""
    task: str = ""
    keys: str = ""
    """What a person may press; empty = nothing."""


def screen(seen: Seen) -> RenderableType:
    """The whole view."""
    parts: list[RenderableType] = [Text(seen.banner, style="bold")]
    if seen.notice:
        parts.append(Text(seen.notice, style="bold red"))
    parts.append(_panel("robot", _robot_rows(seen)))
    parts.append(_panel("policy", _policy_rows(seen)))
    if seen.failure:
        parts.append(Text(f"last failure: {seen.failure}", style="yellow"))
    parts.append(Text(seen.keys or "Ctrl-C: brake, hold (only the twin parks by itself), report", style="dim"))
    return Group(*parts)


def line(seen: Seen) -> str:
    """The same in one line, for logs and terminals that are none."""
    status, replan = seen.status, seen.replan
    mode = status.mode if status else "-"
    text = f"{seen.elapsed_s:6.1f} s  {mode:8s} replans {seen.replans:4d} ({seen.rate_hz:.1f}/s)"
    if replan:
        text += f"  TR {replan.tr_value:.3f}  w {replan.scale_lang:.2f}/{replan.scale_plan:.2f}"
        text += f"  branches {len(replan.branches_run)}  {_answer_ms(replan):.0f} ms"
    return f"{text}  {seen.task}".rstrip()


def _robot_rows(seen: Seen) -> list[tuple[str, RenderableType]]:
    status = seen.status
    of = f" of {seen.seconds:.0f} s" if seen.seconds is not None else " s, until Ctrl-C"
    rows: list[tuple[str, RenderableType]] = [
        ("instruction", seen.instruction),
        ("time", f"{seen.elapsed_s:.0f}{of}"),
        ("task", seen.task or "-"),
    ]
    if status is None:
        return [*rows, ("mode", Text("starting", style="dim"))]
    counters = status.counters
    clips = {name.removeprefix("clip_"): n for name, n in counters.items() if name.startswith("clip_") and n}
    return [
        *rows,
        (
            "mode",
            Text(status.mode, style=_MODE_STYLES.get(status.mode, "bold")) + Text(f"  {status.reason}", style="dim"),
        ),
        ("source", _source(status)),
        ("chunk", _chunk(status, seen.replan)),
        ("underruns", f"{counters.get(UNDERRUNS, 0)} ticks, periods skipped {counters.get(SKIPPED, 0)}"),
        ("clipped ticks", ", ".join(f"{name} {n}" for name, n in clips.items()) or "none"),
    ]


def _source(status: LoopStatus) -> Text:
    """Who drives each arm, what the operator must do, and why the last wish was not done."""
    waiting, notice = status.notes.get("teleop", ""), status.notes.get("notice", "")
    shown = Text(status.source)
    if waiting and status.mode in ("HANDOFF", "TELEOP"):
        shown += Text(f"  {waiting}", style="yellow")
    return shown + Text(f"  {notice}", style="yellow") if notice else shown


def _policy_rows(seen: Seen) -> list[tuple[str, RenderableType]]:
    replan = seen.replan
    if replan is None:
        return [("replans", "none answered yet")]
    counts = ", ".join(f"{n} x {name}" for name, n in seen.branch_counts.items())
    stages = ", ".join(f"{name} {duration / _NS_PER_MS:.1f}" for name, duration in replan.durations_ns.items())
    dropped = f"  dropped for the budget: {', '.join(replan.branches_dropped)}" if replan.branches_dropped else ""
    return [
        ("Temporal Ratio", f"{replan.tr_value:.4f}   density {replan.tr_density:.3f}   rank {replan.tr_rank:.2f}"),
        ("scales", f"language {replan.scale_lang:.2f}   plan {replan.scale_plan:.2f}"),
        ("branches", f"{', '.join(replan.branches_run)}{dropped}"),
        ("branches so far", counts),
        ("replans", f"{seen.replans} ({seen.rate_hz:.2f} per second), last answered in {_answer_ms(replan):.0f} ms"),
        ("stages [ms]", stages),
        ("image age", ", ".join(f"{role} {age / _NS_PER_MS:.0f} ms" for role, age in replan.image_ages_ns.items())),
    ]


def _chunk(status: LoopStatus, replan: ReplanRecord | None) -> str:
    """The chunk in force: its name, the age of the observation it answers, the row in execution, the time left."""
    if not status.chunk:
        return "-"
    text = f"{status.chunk}, row {status.row}, {status.plan_left_ns / _NS_PER_MS:.0f} ms left"
    if replan is None or status.chunk != f"{replan.session}/{replan.epoch}/{replan.sequence}":
        return text  # the record of a chunk and the first tick that runs it come by different ways
    return f"{text}, age {(status.stamp_ns - replan.asked_ns) / _NS_PER_MS:.0f} ms"


def _answer_ms(replan: ReplanRecord) -> float:
    return (replan.answered_ns - replan.asked_ns) / _NS_PER_MS


def _panel(title: str, rows: list[tuple[str, RenderableType]]) -> Panel:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for name, value in rows:
        table.add_row(Text(name), Text(value) if isinstance(value, str) else value)  # brackets are no markup
    return Panel(table, title=title, title_align="left", border_style="dim")
