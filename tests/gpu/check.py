"""The questions of check.sh, one JSON for all answers; what could not be asked is "not measured" with the reason."""

from __future__ import annotations

import importlib.util
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

TOTAL_S: Final = 440.0
"""No new question is begun after this; check.sh ends the process at 470 s."""
BUNDLE: Final = "bundles/trained-foresight"
SIZES: Final = ("tiny", "mid", "full")
UNCOMPILED: Final = ("torch eager", "torch CUDA graph", "whole loops")
COMPILED: Final = ("torch compile", "whole loops, compiled")
"""Each number of branches is compiled by itself, which takes longer than all that is measured of it."""
MOST_S: Final = 1.0
"""Of one row of the engines bench."""

Answers = dict[str, Any]


def main(out: Path) -> int:
    """Ask everything there is time for; the file is written after each answer."""
    start = time.monotonic()
    answers: Answers = {"machine": machine(), "complete": False}
    questions: list[tuple[str, Callable[[], Any]]] = [
        ("parity", parity),
        ("loops", lambda: loops(compiled=False)),
        ("fused attention", fused_attention),
        *[(f"engines {size}", lambda s=size: engines(s, out, UNCOMPILED, (1, 2, 3))) for size in SIZES],
        ("loops compiled", lambda: loops(compiled=True)),
        *[(f"engines {size} compiled", lambda s=size: engines(s, out, COMPILED, (1,))) for size in ("mid", "full")],
        ("tensorrt", lambda: tensorrt("tensorrt", "trt:current")),
        ("tensorrt_rtx", lambda: tensorrt("tensorrt_rtx", "rtx:current")),
    ]
    for name, ask in questions:
        late = time.monotonic() - start > TOTAL_S
        answers[name] = {"not_measured": "no time left"} if late else answered(ask)
        print(name, "done", f"{time.monotonic() - start:.0f} s", flush=True)
        write(out, answers)
    answers["complete"] = True
    write(out, answers)
    return 0


def answered(ask: Callable[[], Any]) -> Any:
    """The answer, or why there is none: this is the outermost frame of each question."""
    try:
        return ask()
    except Exception as error:
        return {"not_measured": f"{type(error).__name__}: {str(error)[:500]}"}


def machine() -> Answers:
    """What the figures belong to."""
    try:
        query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
        card = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        card = f"nvidia-smi: {error}"
    return {"card": card, "python": platform.python_version(), "platform": platform.platform()}


def parity() -> Answers:
    """Largest difference of every graph of an untrained tiny model between card and CPU, in fp32."""
    import torch

    from policy_server.model.graphs import graphs_of
    from policy_server.model.policy import build
    from policy_server.model.presets import tiny

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    graphs = graphs_of(build(tiny(), 0))
    worst: Answers = {}
    for name, graph in graphs.items():
        with torch.no_grad():
            wanted = graph.module(*graph.inputs.values())
            graph.module.to("cuda")
            got = graph.module(*[each.cuda() for each in graph.inputs.values()])
            graph.module.to("cpu")
        pairs = zip(as_tuple(got), as_tuple(wanted), strict=True)
        worst[name] = max(float((a.cpu().float() - b.float()).abs().max()) for a, b in pairs)
    return {"largest_difference": worst}


def loops(compiled: bool) -> Answers:
    """Whole loops in CUDA graphs against the CPU's steps; see tests/gpu/loops.py."""
    _require_card()
    from tests.gpu.loops import loops as ask

    return ask(compiled)


def fused_attention() -> Answers:
    """Which fused kernels take the head of the policy."""
    _require_card()
    from tests.gpu.loops import fused_attention as ask

    return ask()


def _require_card() -> None:
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError(f"torch {torch.__version__} sees no card")


def engines(size: str, out: Path, names: tuple[str, ...], branches: tuple[int, ...]) -> Answers:
    """`yam-policy bench engines` in bf16; its own file keeps the rows of a call that was cut short."""
    from policy_server.bench.engines.bench import bench_engines
    from policy_server.bench.engines.plan import Plan

    plan = Plan(sizes=(size,), branches=branches, engines=names, device="cuda", precision="bf16", most_s=MOST_S)
    return bench_engines(out.with_suffix(f".{size}.json"), plan)


def tensorrt(library: str, target: str) -> Answers:
    """Build, verify and time the shipped bundle, where the library is installed already."""
    if importlib.util.find_spec(library) is None:
        return {"not_measured": f"{library} is not installed"}
    said: Answers = {}
    for name, arguments in (
        ("build", ["build", BUNDLE, "--target", target]),
        ("verify", ["verify", BUNDLE, "--engine", library]),
    ):
        command = [sys.executable, "-m", "policy_server", *arguments]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        said[name] = {"exit": run.returncode, "said": (run.stdout + run.stderr)[-2000:]}
    return said


def as_tuple(value: Any) -> tuple[Any, ...]:
    """One output or several."""
    return value if isinstance(value, tuple) else (value,)


def write(out: Path, answers: Answers) -> None:
    """The whole file, so that an interrupted run keeps what was answered."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/bench/gpu.json")))
