"""What reading the Temporal Ratio costs: the bundle's head against the same head without indicator columns."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from policy_server.bundle import CHECKPOINT_FOLDER, Bundle, load_bundle
from policy_server.engines.base import Engine
from policy_server.engines.loading import load_engine
from policy_server.head import KEEPS_FUTURE
from policy_server.percentiles import percentiles_ms
from policy_server.policy import Policy
from policy_server.warm_up import neutral_observation

KEY: Final = "tr_share_of_head_p50"
HEAD: Final = ("context", "action_step")


def masses_share(bundle_folder: Path | None, rounds: int) -> dict[str, Any]:
    """`tr_share_of_head_p50` = 1 - time without / time with: medians of alternating runs of one branch.

    Time is that of the one thread that computes (CPU time), so that what else the machine does matters little.

    The bare head comes from the bundle's own checkpoint; without a bundle both are of random weights, for time depends
    on shapes alone. None, with `tr_share_reason`, where nothing can be exported or the bundle carries no checkpoint.
    """
    if bundle_folder is not None and not (bundle_folder / CHECKPOINT_FOLDER).is_dir():
        return _not_measured("the bundle carries no checkpoint: leave --bundle out, or export with --carry-checkpoint")
    try:
        from policy_server.export.bare_head import export_head_without_masses
        from policy_server.export.bundle import export_bundle
        from policy_server.model.untrained import make_untrained
    except ModuleNotFoundError as error:
        return _not_measured(f"needs {error.name}: pip install 'yam-video-action[train]'")
    with tempfile.TemporaryDirectory() as scratch:
        if bundle_folder is None:
            bundle_folder = Path(scratch, "bundle")
            make_untrained(Path(scratch, "weights"))
            export_bundle(Path(scratch, "weights"), bundle_folder, carry_checkpoint=True)
        bundle = load_bundle(bundle_folder)
        export_head_without_masses(bundle.folder / CHECKPOINT_FOLDER, Path(scratch, "bare"))
        manifest = bundle.manifest.model_copy(update={"files": {f"{graph}.onnx": "" for graph in HEAD}})
        return _compare(bundle, load_engine("onnxruntime", Bundle(Path(scratch, "bare"), manifest), 1), rounds)


def _compare(bundle: Bundle, bare: Engine, rounds: int) -> dict[str, Any]:
    whole = load_engine("onnxruntime", bundle, 1)
    feeds = _feeds(bundle, whole)
    steps = bundle.manifest.head.flow_steps
    runs = {"with": _run_of(whole, feeds, steps), "without": _run_of(bare, feeds, steps)}
    samples: dict[str, list[int]] = {name: [] for name in runs}
    for number in range(rounds + rounds // 10):
        for name in sorted(runs, reverse=number % 2 == 0):  # whoever runs second finds warmer caches
            begin_ns = time.thread_time_ns()
            runs[name]()
            if number >= rounds // 10:
                samples[name].append(time.thread_time_ns() - begin_ns)
    share = 1 - float(np.median(samples["without"]) / np.median(samples["with"]))
    return {
        KEY: round(share, 4),
        "head_ms": percentiles_ms(samples["with"]),
        "head_without_masses_ms": percentiles_ms(samples["without"]),
        "head_engine": whole.runs_on,
    }


def _feeds(bundle: Bundle, engine: Engine) -> dict[str, np.ndarray]:
    """Inputs of the head as one real replan gives them."""
    recorder = Recorder(engine)
    Policy(bundle.manifest, recorder).replan(neutral_observation(bundle.manifest), lambda: 0)
    return recorder.feeds


class Recorder:
    """An engine that keeps the first inputs of the head."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.id, self.runs_on, self.graphs = engine.id, engine.runs_on, engine.graphs
        self.inputs, self.outputs, self.close = engine.inputs, engine.outputs, engine.close
        self.feeds: dict[str, np.ndarray] = {"future_keep": np.array([KEEPS_FUTURE["full"]], np.float32)}

    def run(self, graph: str, feeds: Any) -> dict[str, np.ndarray]:
        """As the engine."""
        if graph in HEAD:
            self.feeds = {**{name: np.array(array) for name, array in feeds.items()}, **self.feeds}
        return self._engine.run(graph, feeds)


def _run_of(engine: Engine, feeds: dict[str, np.ndarray], steps: int) -> Callable[[], None]:
    """One branch through the head: context once, then every flow step."""

    def run() -> None:
        pool = {**feeds, **engine.run("context", {name: feeds[name] for name in engine.inputs("context")})}
        step = {name: pool[name] for name in engine.inputs("action_step")}
        for _ in range(steps):
            engine.run("action_step", step)

    return run


def _not_measured(reason: str) -> dict[str, Any]:
    return {KEY: None, "tr_share_reason": reason}
