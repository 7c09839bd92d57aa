"""`yam-train evaluate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from contract.errors import ConfigurationError
from training.evaluate.evaluation import Evaluation
from training.evaluate.futures import FUTURES
from training.evaluate.suite import trials
from training.evaluate.summary import report, success_rates
from training.publish import calibrate, note_scores

SPLITS = ("id", "ood")


def evaluate_bundle(
    bundle: Path,
    rotation: int,
    per_pair: int,
    first_seed: int,
    futures: tuple[str, ...],
    splits: tuple[str, ...],
    out: Path,
    note: bool,
    say: Callable[[str], None],
) -> dict[str, list[dict[str, Any]]]:
    """Outcomes by future; see `yam-train evaluate --help`."""
    wanted_futures = [_known("future", name, FUTURES) for name in futures]
    wanted_splits = tuple(_known("split", name, SPLITS) for name in splits)
    chosen = trials(rotation, per_pair, first_seed, wanted_splits)
    evaluation = Evaluation(bundle, rotation, say)
    folder = out / evaluation.subject.name
    outcomes, scores = {}, {}
    for future in wanted_futures:
        wanted = {(t.task.object, t.task.receptacle, t.seed) for t in chosen}
        tried = evaluation.run(future, chosen, folder / f"rotation{rotation}-{future}.jsonl")
        outcomes[future] = [o for o in tried if (o["object"], o["receptacle"], o["seed"]) in wanted]
        say(f"-- future {future}")
        for line in report(outcomes[future]):
            say(line)
        for split, rate in success_rates(outcomes[future]).items():
            scores[f"{split}_success_{future}"] = rate.value
            scores[f"{split}_trials_{future}"] = float(rate.trials)
    if note:
        note_scores(bundle, scores)
        if "kept" in outcomes:
            source = f"yam-train evaluate, rotation {rotation}, {per_pair} layouts a seen pair"
            calibrate(bundle, outcomes["kept"], evaluation.subject.engine.id, source)
    evaluation.close()
    return outcomes


def _known(what: str, name: str, known: tuple) -> Any:
    if name not in known:
        raise ConfigurationError(what, expected=", ".join(known), got=name, remedy="choose among those")
    return name
