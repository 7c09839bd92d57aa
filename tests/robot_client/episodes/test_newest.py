"""One rule for the live line and for datasets: of every stream the newest that is not after the moment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.errors import RigError
from robot_client.clock import NS_PER_MS, FakeClock
from robot_client.episodes.formats.entries import Driver, Entry, Joints, Picture
from robot_client.episodes.samples import Sampler
from robot_client.newest import Newest, Unfit
from robot_client.planner.observe import look
from robot_client.rigs.base import Frame
from tests.robot_client.stage import STATION, info

ROLES = [camera.role for camera in STATION.cameras]
CAMERAS = {camera.role: camera for camera in STATION.cameras}
MAX_AGE_NS = 300 * NS_PER_MS
GRID_NS = 100 * NS_PER_MS
RATE_HZ = 10.0


class Recorded:
    """Entries in memory."""

    path, layout = Path("recorded"), "memory"
    missing, facts = (), {}

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = sorted(entries, key=lambda entry: entry.stamp_ns)

    def entries(self, roles: object = None):  # type: ignore[no-untyped-def]
        return iter(self._entries)

    def cameras(self) -> dict[str, float]:
        return dict.fromkeys(ROLES, RATE_HZ)


def image(number: int) -> np.ndarray:
    return np.full((6, 8, 3), number % 256, np.uint8)


def live(stamps: dict[str, list[int]], now_ns: int) -> dict[str, int] | None:
    """What the planner picks at `now_ns`, by its own code; None where it refuses to plan."""
    frames = {}
    for role, all_stamps in stamps.items():
        there = [i for i, stamp in enumerate(all_stamps) if stamp <= now_ns]
        if there:
            frames[role] = Frame(role, image(there[-1]), all_stamps[there[-1]])
    try:
        sighting = look(frames, CAMERAS, info(), FakeClock(now_ns), MAX_AGE_NS, {})
    except RigError:
        return None
    return dict(sighting.stamps_ns)


gaps = st.lists(st.integers(1, 450), min_size=6, max_size=25)


@settings(max_examples=120, deadline=None)
@given(st.fixed_dictionaries({role: gaps for role in ROLES}), gaps)
def test_the_sampler_picks_what_the_planner_would_have_picked(frame_gaps: dict, joint_gaps: list[int]) -> None:
    """At every time of the grid: the same frames, or both say that there is nothing fit to use."""
    start_ns = 10**9
    stamps = {r: [start_ns + int(s) * NS_PER_MS for s in np.cumsum(g)] for r, g in frame_gaps.items()}
    joints = [start_ns + int(s) * NS_PER_MS for s in np.cumsum(joint_gaps)]
    entries: list[Entry] = [Driver(start_ns, "TELEOP", "person")]
    entries += [Picture(s, role, lambda i=i: image(i)) for role, all_ in stamps.items() for i, s in enumerate(all_)]
    entries += [Joints(s, kind, np.full(14, float(i))) for i, s in enumerate(joints) for kind in ("measured", "told")]
    end_ns = max(entry.stamp_ns for entry in entries)
    sampler = Sampler(Recorded(entries), ROLES, RATE_HZ, MAX_AGE_NS)
    begun: dict[int, int] = {}
    for sample in sampler.samples():
        begun.setdefault(sample.stretch, max(sample.stamps_ns.values()))
        now_ns = begun[sample.stretch] + round(sample.time_s * 1e9)
        assert {role: sample.stamps_ns[role] for role in ROLES} == live(stamps, now_ns)
        newest = max(s for s in joints if s <= now_ns)
        assert sample.stamps_ns["measured"] == sample.stamps_ns["told"] == newest
        assert now_ns - newest <= MAX_AGE_NS and sample.state[0] == joints.index(newest)
        for role in ROLES:
            number = stamps[role].index(sample.stamps_ns[role])
            np.testing.assert_array_equal(sample.images[role], image(number))
        assert now_ns < end_ns
    assert len(sampler.breaks) >= len(begun) - 1, "every break between two stretches is said"


@settings(max_examples=100, deadline=None)
@given(st.fixed_dictionaries({role: gaps for role in ROLES}))
def test_where_the_sampler_breaks_off_the_planner_refuses_too(frame_gaps: dict) -> None:
    start_ns = 10**9
    stamps = {r: [start_ns + int(s) * NS_PER_MS for s in np.cumsum(g)] for r, g in frame_gaps.items()}
    end_ns = max(max(all_) for all_ in stamps.values()) + 10 * GRID_NS
    entries: list[Entry] = [Driver(start_ns, "TELEOP", "person")]
    entries += [Picture(s, role, lambda i=i: image(i)) for role, all_ in stamps.items() for i, s in enumerate(all_)]
    entries += [Joints(s, k, np.zeros(14)) for s in range(start_ns, end_ns, GRID_NS // 4) for k in ("measured", "told")]
    sampler = Sampler(Recorded(entries), ROLES, RATE_HZ, MAX_AGE_NS)
    last: dict[int, int] = {}
    begun: dict[int, int] = {}
    for sample in sampler.samples():
        begun.setdefault(sample.stretch, max(sample.stamps_ns.values()))
        last[sample.stretch] = begun[sample.stretch] + round(sample.time_s * 1e9)
    assert len(sampler.breaks) == len(last), "all streams of frames end before the joints do"
    for now_ns in last.values():
        assert live(stamps, now_ns) is not None
        assert live(stamps, now_ns + GRID_NS) is None


def test_what_arrives_late_does_not_displace_what_is_newer() -> None:
    newest: Newest[str] = Newest()
    newest.take("top", 20, "newer")
    newest.take("top", 10, "late")
    found = newest.at(["top"], 25, 100)
    assert not isinstance(found, Unfit) and found["top"].value == "newer"


@pytest.mark.parametrize(("now_ns", "age_ns"), [(130, 110), (121, 101)])
def test_what_is_too_old_is_named_with_its_age(now_ns: int, age_ns: int) -> None:
    newest: Newest[str] = Newest()
    newest.take("top", 20, "x")
    assert newest.at(["top"], now_ns, 100) == Unfit("top", age_ns)
    assert newest.at(["top", "wrist"], 30, 100) == Unfit("wrist", None)
