"""One size after another, near and far, ours and openpi's in turns within one run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from contract.errors import ConfigurationError
from robot_client.latency.figures import figures_ms
from robot_client.link.proxy import tcp_proxy
from robot_client.payload.jpeg import IMAGES, jpeg_cost
from robot_client.payload.processes import LineProcess, process

SIZES: Final = ((224, 224), (480, 640), (720, 1280))
"""(height, width): what most policies see, what most cameras give, and more."""
REFERENCE: Final = (480, 640)
BLOCK: Final = 10
"""Calls of one kind before the other has its turn."""
_JPEG_WIDTH: Final = 64
"""Of the plain images that stand for JPEG files of the same length."""
_HERE: Final = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    calls: int = 100
    """Of each kind, size and distance."""
    policy_ms: float = 20.0
    """What the pretended policy takes, on both sides."""
    far_ms: float = 2.0
    """One way's extra time in a proxy that stands for a network; 0 = nothing far is measured."""
    sizes: tuple[tuple[int, int], ...] = SIZES

    def check(self) -> None:
        """Raises `ConfigurationError` for what cannot be measured."""
        if self.calls < BLOCK or not 0.0 <= self.policy_ms <= 1000.0 or not 0.0 <= self.far_ms <= 500.0:
            raise ConfigurationError("bench payload", expected=f"calls >= {BLOCK}, times of 0..500 ms", got=self)


def rows_of(plan: Plan, openpi: Path | None) -> list[dict[str, Any]]:
    """A row for each size and distance. `openpi`: the interpreter with its client; None leaves that side out."""
    rows = []
    for height, width in plan.sizes:
        jpeg = jpeg_cost(height, width, min(plan.calls, 30))
        for extra_ms in (0.0, plan.far_ms) if plan.far_ms else (0.0,):
            trips = _trips(plan, (height, width), extra_ms, openpi)
            row = {"height": height, "width": width, "extra_ms_each_way": extra_ms, **trips}
            rows.append({**row, "jpeg": {**jpeg, **_with_jpeg(plan, jpeg, extra_ms)}})
    return rows


def _with_jpeg(plan: Plan, jpeg: dict[str, Any], extra_ms: float) -> dict[str, Any]:
    """What the round trip would take with JPEG on the wire: that of as many bytes, really made, and to its median those
    of encoding and decoding, which were timed alone."""
    height = -(-jpeg["jpeg_bytes"] // (IMAGES * 3 * _JPEG_WIDTH))
    trips = _trips(plan, (height, _JPEG_WIDTH), extra_ms, None)["ours_ms"]
    whole_ms = trips["p50"] + jpeg["encode_ms"]["p50"] + jpeg["decode_ms"]["p50"]
    return {"trip_of_its_bytes_ms": trips, "round_trip_p50_ms": round(whole_ms, 3)}


def _trips(plan: Plan, size: tuple[int, int], extra_ms: float, openpi: Path | None) -> dict[str, Any]:
    spent: dict[str, list[int]] = {}
    with _ours(plan, size, extra_ms) as ours, _theirs(plan, size, extra_ms, openpi) as theirs:
        sides = {"ours": ours, "openpi": theirs} if theirs is not None else {"ours": ours}
        first = {name: side.samples(1) for name, side in sides.items()}
        for _ in range(-(-plan.calls // BLOCK)):
            for name, side in sides.items():
                spent.setdefault(name, []).extend(side.samples(BLOCK))
    result: dict[str, Any] = {f"{name}_ms": figures_ms(values) for name, values in spent.items()}
    result["first_call_ms"] = {name: [round(ns / 1e6, 3) for ns in values] for name, values in first.items()}
    result["dropped"] = {name: -(-plan.calls // BLOCK) * BLOCK - len(values) for name, values in spent.items()}
    if "openpi" in spent:
        medians = {name: float(np.median(values)) / 1e6 for name, values in spent.items()}
        beyond = {name: ms - plan.policy_ms for name, ms in medians.items()}
        result["openpi_over_ours_p50"] = round(medians["openpi"] / medians["ours"], 4)
        result["openpi_over_ours_beyond_policy_p50"] = round(beyond["openpi"] / beyond["ours"], 4)
    return result


@contextmanager
def _ours(plan: Plan, size: tuple[int, int], extra_ms: float) -> Iterator[LineProcess]:
    serve = [sys.executable, "-m", "policy_server.server.scripted_server", "--height", str(size[0])]
    serve += ["--width", str(size[1]), "--latency-ms", f"{plan.policy_ms:g}", "--rows", "holding", "--stop-with-stdin"]
    ask = [sys.executable, "-m", "robot_client.payload.peer"]
    with (
        process("our server", serve) as server,
        _far(server.ready(), extra_ms) as address,
        process("our client", [*ask, address]) as client,
    ):
        yield client


@contextmanager
def _theirs(plan: Plan, size: tuple[int, int], extra_ms: float, openpi: Path | None) -> Iterator[LineProcess | None]:
    if openpi is None:
        yield None
        return
    serve = [str(openpi), str(_HERE / "openpi_server.py"), f"{plan.policy_ms:g}"]
    ask = [str(openpi), str(_HERE / "openpi_peer.py")]
    with (
        process("openpi's protocol", serve) as server,
        _far(f"tcp://127.0.0.1:{server.ready()}", extra_ms) as address,
        process("openpi's client", [*ask, address.rsplit(":", 1)[1], *map(str, size)]) as client,
    ):
        yield client


@contextmanager
def _far(address: str, extra_ms: float) -> Iterator[str]:
    """The address itself, or that of a proxy before it which takes its time in both directions."""
    if extra_ms <= 0.0:
        yield address
        return
    with tcp_proxy(address) as proxy:
        proxy.weather.delay_s = extra_ms / 1e3
        yield proxy.address
