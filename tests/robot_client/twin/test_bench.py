"""The twin's benchmark."""

from __future__ import annotations

from robot_client.twin.bench import measure


def test_the_benchmark_gives_every_figure_as_a_positive_number() -> None:
    figures = measure(2)
    names = ("policy_cameras_ms_p50", "overview_cpu_ms", "physics_times_real_time", "core_share_at_default_rates")
    assert all(figures[name] > 0 for name in names)
    assert figures["physics_times_real_time"] > 2
