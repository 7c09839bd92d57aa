"""1. Does it pick and place, on pairs it has seen and on pairs it has not?"""

from __future__ import annotations

from collections import defaultdict
from html import escape
from typing import Any

from robot_client.twin.tasks import OBJECTS, RECEPTACLES
from training.analyse.charts import intervals
from training.analyse.entry import Entry
from training.analyse.outcomes import Results, Tried
from training.analyse.section import Section, State, mark, paragraph, rate_text, state_of

GATE = 0.9
SEEDS, LAYOUTS, ROTATION_SEEDS = 3, 50, 2
"""Planned: training seeds, layouts of each pair, training seeds of the second rotation."""
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def section(found: dict[str, Any], results: Results) -> Section:
    """Rates, and how each pair did."""
    seen, unseen = found["id_success"], found["ood_success"]["off"]
    masked = seen["gate_future_masked"]
    marks = [
        mark("seen pairs, as served", seen, rate_text(seen)),
        mark("gate policy, seen pairs, future masked", masked, rate_text(masked)),
        mark("held-out pairs, as served", unseen, rate_text(unseen), "orange"),
    ]
    for rotation, rates in found["rotations"].items():
        if rotation != "0":
            for split, name in (("id", "seen"), ("ood", "held-out")):
                if rates[split]["value"] is not None:
                    of = f"rotation {rotation} ({', '.join(rates['policies'])}), {name}"
                    marks.append(mark(of, rates[split], rate_text(rates[split]), "grey"))
    client = found["through_client"]
    for split, name in (("id", "seen"), ("ood", "held-out")):
        if client[split]["value"] is not None:
            marks.append(mark(f"{name}, through client and safety", client[split], rate_text(client[split]), "grey"))
    body = intervals(marks, 0.0, 1.0, _TICKS, "%") + _pairs(results) + _failures(results) + _missing(found)
    state = state_of([seen, masked, unseen])
    whole = state == "measured" and _enough(seen)
    shown: State = state if whole or state == "not run" else "partly"
    return Section("Success on seen and on held-out pairs", shown, _answer(found), body)


def _enough(seen: Entry) -> bool:
    """As many trials as were planned."""
    return bool(seen["training_seeds"] >= SEEDS and seen["layout_seeds"] >= LAYOUTS)


def _answer(found: dict[str, Any]) -> str:
    seen, unseen = rate_text(found["id_success"]), rate_text(found["ood_success"]["off"])
    heads = found["id_success"].get("training_seeds", 1)
    served = f"{f'Over {heads} heads' if heads > 1 else 'As served'}: seen pairs {seen}, held-out pairs {unseen}. "
    masked = found["id_success"]["gate_future_masked"]
    if masked["value"] is None:
        return f"{served}The gate: not run."
    low = masked["interval"][0]
    sure = "" if low >= GATE else f"; the interval reaches down to {100 * low:.0f} %"
    gate = "reached" if masked["value"] >= GATE else "NOT reached"
    return (
        f"{served}The gate (90 % of seen pairs from current-frame tokens alone) is {gate}: {rate_text(masked)}{sure}."
    )


def _pairs(results: Results) -> str:
    """Objects down, receptacles across."""
    tried = results.tried("headline", future="kept", guidance="off", rotation=0)
    by_pair: dict[tuple[str, str], list[Tried]] = defaultdict(list)
    for one in tried:
        by_pair[one.object, one.receptacle].append(one)
    if not by_pair:
        return ""
    heads = "".join(f"<th>{name}</th>" for name in RECEPTACLES)
    rows = "".join(
        f"<tr><td>{escape(thing)}</td>{''.join(_pair(by_pair.get((thing, place), [])) for place in RECEPTACLES)}</tr>"
        for thing in OBJECTS
    )
    legend = paragraph("As served, by pair. Dashed: held out, no action of these was ever trained on.", soft=True)
    return f"{legend}<table class=pairs><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _pair(tried: list[Tried]) -> str:
    if not tried:
        return "<td class=empty>not run</td>"
    share = sum(one.success for one in tried) / len(tried)
    kind = " class=held" if tried[0].split == "ood" else ""
    colour = f"hsl({round(120 * max(share - 0.4, 0) / 0.6)} 45% {88 - 8 * share:.0f}%)"
    return f'<td{kind} style="background:{colour}">{sum(one.success for one in tried)}/{len(tried)}</td>'


def _failures(results: Results) -> str:
    lost = [one for one in results.tried("headline", future="kept", guidance="off", rotation=0) if not one.success]
    if not lost:
        return ""
    wrong = [one for one in lost if one.misplaced]
    never = [one for one in lost if not _carried(one)]
    return paragraph(
        f"Failures as served: {len(lost)}. In {len(wrong)} something ended with a receptacle it was not asked for; in "
        f"{len(never)} no replan ever saw the object in transport, that is, it was not picked up."
    )


def _carried(one: Tried) -> bool:
    return any(phase in ("transport", "place", "retreat") for phase in one.phases)


def _missing(found: dict[str, Any]) -> str:
    seen = found["id_success"]
    if seen["value"] is None:
        return ""
    asked = [
        f"{seen['training_seeds']} training seed{'s' if seen['training_seeds'] != 1 else ''} of {SEEDS} wanted",
        f"{seen['layout_seeds']} layouts a pair of {LAYOUTS} wanted",
    ]
    second = found["rotations"]["1"]["id"]
    if second["value"] is None:
        asked.append("second rotation not run")
    elif second["training_seeds"] < ROTATION_SEEDS:
        asked.append(f"{second['training_seeds']} training seed of the second rotation of {ROTATION_SEEDS} wanted")
    told = paragraph(f"What the figures rest on: {'; '.join(asked)}.", soft=True)
    for name, rates in (("seen", seen), ("held-out", found["ood_success"]["off"])):
        if "by_training_seed" in rates:
            each = ", ".join(f"{seed}: {count}" for seed, count in rates["by_training_seed"].items())
            told += paragraph(f"By training seed of the head, {name} pairs: {each}.", soft=True)
    return told
