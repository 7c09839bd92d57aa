"""The status in the words of Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from policy_server.server.status import Status

PREFIX: Final = "yam_policy"
_STATES: Final = ("LOADING", "READY", "FAULT")


class StatusCollector(Collector):
    """Collects what `look` gives at the moment of asking; nothing is counted twice."""

    def __init__(self, look: Callable[[], Status]) -> None:
        self._look = look

    def collect(self) -> Iterator[Metric]:
        """Every metric family."""
        status = self._look()
        yield from _identity(status)
        for name, count in status.counters.items():
            yield CounterMetricFamily(f"{PREFIX}_{name}", f"Since start: {name.replace('_', ' ')}.", count)
        yield _quantiles("stage_milliseconds", "Time of a replan by stage, last answers.", status.stages_ms)
        ratio = {"all": status.temporal_ratio} if status.temporal_ratio else {}
        yield _quantiles("temporal_ratio", "Temporal Ratio, last answers.", ratio)
        yield _branches("branches_run", "Guidance branches that ran.", status.branches_run)
        yield _branches("branches_dropped", "Guidance branches that did not fit the budget.", status.branches_dropped)


def _identity(status: Status) -> Iterator[Metric]:
    state = GaugeMetricFamily(f"{PREFIX}_state", "1 for the present state.", labels=["state"])
    for name in _STATES:
        state.add_metric([name], float(name == status.state))
    yield state
    yield GaugeMetricFamily(f"{PREFIX}_sessions", "Clients that said hello.", status.sessions)
    yield GaugeMetricFamily(f"{PREFIX}_up_seconds", "Time since start.", status.up_s)
    if status.info is not None:
        info = GaugeMetricFamily(
            f"{PREFIX}_info", "What is served, on what.", labels=["model_id", "weights_hash", "engine_id", "runs_on"]
        )
        served = status.info
        info.add_metric([served.model_id, served.weights_hash[:12], served.engine_id, served.runs_on], 1.0)
        yield info
    if status.card is not None:
        yield GaugeMetricFamily(f"{PREFIX}_card_used_bytes", "Memory in use on the card.", status.card.used_bytes)
        yield GaugeMetricFamily(f"{PREFIX}_card_total_bytes", "Memory of the card.", status.card.total_bytes)


def _quantiles(name: str, text: str, groups: dict[str, dict[str, float]]) -> Metric:
    """Quantiles computed here: gauges with a `quantile` label, as a summary writes them."""
    family = GaugeMetricFamily(f"{PREFIX}_{name}", text, labels=["of", "quantile"])
    for group, values in groups.items():
        for key, value in values.items():
            family.add_metric([group, f"0.{key[1:]}"], value)
    return family


def _branches(name: str, text: str, counts: dict[str, int]) -> Metric:
    family = CounterMetricFamily(f"{PREFIX}_{name}", text, labels=["branch"])
    for branch, count in counts.items():
        family.add_metric([branch], count)
    return family
