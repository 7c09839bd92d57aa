"""`yam-train evaluate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from contract.errors import ConfigurationError
from policy_server.bundle import MANIFEST_NAME
from training.evaluate.about import describe
from training.evaluate.evaluation import Evaluation
from training.evaluate.rotation import require_rotation
from training.evaluate.subject import open_subject
from training.evaluate.summary import report, success_rates
from training.evaluate.wanted import Wanted
from training.publish import calibrate, note_scores


def evaluate_bundle(
    bundle: Path,
    wanted: Wanted,
    out: Path,
    say: Callable[[str], None],
    note: bool = False,
    calibrating: bool = False,
) -> dict[str, list[dict[str, Any]]]:
    """Outcomes by method, `note` and `calibrating` write into the bundle; see `yam-train evaluate --help`."""
    methods = wanted.methods()
    chosen = wanted.trials()
    if (note or calibrating) and not (bundle / MANIFEST_NAME).is_file():
        raise ConfigurationError(
            f"{bundle}",
            expected="a bundle, when something is to be noted in it",
            got="none",
            remedy="yam-train publish makes one of a checkpoint",
        )
    subject = open_subject(bundle)
    require_rotation(subject.manifest.provenance, wanted.rotation)
    evaluation = Evaluation(subject, wanted.rotation, say)
    folder = out / evaluation.subject.name
    describe(folder, evaluation.subject.manifest, wanted.rotation)
    outcomes = {}
    for method in methods:
        asked = {(t.task.object, t.task.receptacle, t.seed) for t in chosen}
        file = folder / f"rotation{wanted.rotation}-{method.name}.jsonl"
        tried = evaluation.run(method.future, chosen, file, method.guidance, method.w_max, wanted.probe, method.client)
        outcomes[method.name] = [o for o in tried if (o["object"], o["receptacle"], o["seed"]) in asked]
        say(f"-- {method.name}")
        for line in report(outcomes[method.name]):
            say(line)
    if note:
        note_scores(bundle, _scores(outcomes))
    if (note or calibrating) and "kept" in outcomes:
        seeds = f"{wanted.first_seed} to {wanted.first_seed + wanted.per_pair - 1}"
        source = f"yam-train evaluate, rotation {wanted.rotation}, seen pairs, layouts of seeds {seeds}"
        calibrate(bundle, outcomes["kept"], evaluation.subject.engine.id, source)
    evaluation.close()
    return outcomes


def _scores(outcomes: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    scores = {}
    for name, tried in outcomes.items():
        for split, rate in success_rates(tried).items():
            scores[f"{split}_success_{name}"] = rate.value
            scores[f"{split}_trials_{name}"] = float(rate.trials)
    return scores
