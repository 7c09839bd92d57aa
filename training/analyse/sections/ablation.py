"""2. Does the video help?"""

from __future__ import annotations

from typing import Any

from training.analyse.arms import FUTURES, VARIANTS
from training.analyse.charts import intervals
from training.analyse.outcomes import Results
from training.analyse.section import Section, mark, paragraph, points_text, rate_text, resolved, state_of, table

NAMES = {
    "kept": "future kept (as served)",
    "masked": "future masked",
    "swapped": "future of another instruction",
    "moved": "future of another moment",
    "reworded": "future reworded, same scene",
    "head_without_future": "head trained without future",
    "backbone_without_video_loss": "backbone without video loss",
    "behaviour_cloning": "behaviour cloning",
}

_ONE_SEED = " (one training seed, so what another run would show is open)"


def section(found: dict[str, Any], results: Results) -> Section:
    """Success of each arm, and its paired difference from the policy as served."""
    arms = found["ablation"]
    marks = [
        mark(f"{NAMES[arm]}{', held-out' if split == 'ood' else ''}", rates[split], rate_text(rates[split]), tone)
        for arm, rates in arms.items()
        for split, tone in (("id", "blue"), ("ood", "orange"))
        if rates["id"]["value"] is not None or split == "id"
    ]
    rows = [
        (NAMES[arm], *(points_text(rates[f"{split}_minus_reference"]) for split in ("id", "ood")))
        for arm, rates in arms.items()
        if arm not in VARIANTS and "id_minus_reference" in rates and rates["id"]["value"] is not None
    ]
    body = intervals(marks, 0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0), "%")
    if rows:
        body += table(("minus the policy as served, same layouts and noise", "seen pairs", "held-out pairs"), rows)
    body += _lacking(arms)
    others = [
        (name, NAMES[future], rate_text(rates["id"]), rate_text(rates["ood"]))
        for name, futures in found["other_policies"].items()
        for future, rates in futures.items()
    ]
    if others:
        body += paragraph("Other policies, for comparison (not in results.json's ablation):", soft=True)
        body += table(("policy", "future", "seen pairs", "held-out pairs"), others)
    return Section(
        "Ablation: kept, masked, swapped, never had",
        state_of([arms[arm]["id"] for arm in (*FUTURES, *VARIANTS)]),
        _answer(arms) + _other_job(arms["reworded"]) + _without_video(arms["backbone_without_video_loss"]),
        body + paragraph("Blue: seen pairs. Orange: held-out pairs.", soft=True),
    )


def _lacking(arms: dict[str, Any]) -> str:
    """Policies that lacked something, each beside the one it is to be compared with."""
    rows = [
        (
            NAMES[arm],
            rates["reference"]["policy"] or "-",
            *(f"{rate_text(rates[s])} against {rate_text(rates['reference'][s])}" for s in ("id", "ood")),
            *(points_text(rates[f"{s}_minus_reference"]) for s in ("id", "ood")),
        )
        for arm, rates in arms.items()
        if arm in VARIANTS and "reference" in rates
    ]
    if not rows:
        return ""
    head = ("lacking", "compared with", "seen pairs", "held-out pairs", "seen: difference", "held-out: difference")
    notes = "".join(
        paragraph(f"{NAMES[arm]}: {rates['what']}.", soft=True)
        for arm, rates in arms.items()
        if arm in VARIANTS and "what" in rates
    )
    return table(head, rows) + notes


def _answer(arms: dict[str, Any]) -> str:
    tested = [arm for arm in ("masked", "swapped", "moved", "reworded") if arms[arm]["id"]["value"] is not None]
    if not tested:
        return "Not run."
    if not any(_tried(arms[arm]) for arm in tested):
        return "No trials with the same seeds as the policy as served, so nothing can be compared."
    hurt = [NAMES[arm] for arm in tested if _hurts(arms[arm])]
    if hurt:
        return f"The policy uses its future: success falls with {', '.join(hurt)}."
    worst = min(arms[arm][f"{split}_minus_reference"]["interval"][0] for arm in tested for split in _tried(arms[arm]))
    return (
        f"No effect of the future on success was found: {', '.join(NAMES[arm] for arm in tested)} "
        "differ from the policy as served by no more than noise, so as far as this shows, the video does not help. "
        f"A loss of up to {-100 * min(worst, 0):.0f} points is not ruled out."
    )


def _other_job(rates: dict[str, Any]) -> str:
    """The plainest sign of use: told one thing, shown the future of another, the arms do the other."""
    seen = rates["id_did_the_other_job"]
    if seen["value"] is None:
        return ""
    return f" Told one job and shown the imagined future of another, the arms did the other in {rate_text(seen)}."


def _without_video(rates: dict[str, Any]) -> str:
    """What the video loss is for."""
    unseen = rates["ood_minus_reference"]
    if unseen["value"] is None:
        return ""
    seen = points_text(rates["id_minus_reference"])
    verdict = "helps" if resolved(unseen) and unseen["value"] < 0 else "is not shown to help"
    return (
        f" Video training {verdict} on held-out pairs: without it {points_text(unseen)} on those, {seen} on seen ones, "
        f"compared with {rates['reference']['policy']}{_ONE_SEED if rates['ood']['training_seeds'] == 1 else ''}."
    )


def _tried(rates: dict[str, Any]) -> list[str]:
    return [split for split in ("id", "ood") if rates[f"{split}_minus_reference"]["value"] is not None]


def _hurts(rates: dict[str, Any]) -> bool:
    return any(
        resolved(rates[f"{split}_minus_reference"]) and rates[f"{split}_minus_reference"]["value"] < 0
        for split in ("id", "ood")
    )
