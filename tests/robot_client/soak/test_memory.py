"""A process that grows is found, one that breathes is not."""

from __future__ import annotations

import os

import pytest

from contract.errors import RigError
from robot_client.soak.memory import Sample, judge, look


def hour(mb_per_h: float, wobble_mb: float = 0.0, files_per_h: float = 0.0) -> list[Sample]:
    return [
        Sample(at_s, 100.0 + mb_per_h * at_s / 3600.0 + wobble_mb * (i % 2), 10 + int(files_per_h * at_s / 3600.0))
        for i, at_s in enumerate(range(0, 3600, 5))
    ]


def test_growth_is_measured_and_judged() -> None:
    assert judge(hour(0.0))["flat"] is True
    leaking = judge(hour(12.0))
    assert leaking["growth_mb_per_h"] == pytest.approx(12.0, abs=0.1) and leaking["flat"] is False
    assert judge(hour(0.0, wobble_mb=3.0))["flat"] is True


def test_filling_caches_at_the_start_is_no_growth() -> None:
    samples = [Sample(s.at_s, s.rss_mb + min(s.at_s, 600.0) / 10.0, s.descriptors) for s in hour(0.0)]
    assert judge(samples)["flat"] is True


def test_files_that_are_never_closed_are_found() -> None:
    assert judge(hour(0.0, files_per_h=20.0))["flat"] is False


def test_a_short_soak_claims_nothing() -> None:
    assert judge(hour(50.0)[:3])["flat"] is None


def test_this_process_can_be_looked_at_and_a_gone_one_is_said() -> None:
    sample = look(os.getpid(), 0.0)
    assert sample.rss_mb > 1.0 and sample.descriptors > 2
    with pytest.raises(RigError, match="gone"):
        look(2**22 + 1, 0.0)
