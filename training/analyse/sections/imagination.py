"""6. On held-out pairs: is the right thing imagined, and does the hand follow?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from training.analyse.entry import entry, rate_of
from training.analyse.imagined import Imagined
from training.analyse.section import Section, paragraph, rate_text, table

TITLE = "Imagined against executed video"
_NAMES = {"ood": "held-out pairs", "id": "seen pairs"}


def section(lines: Sequence[Imagined]) -> Section:
    """Rates of right imaginations, a two by two table of held-out layouts, and the films."""
    if not lines:
        body = paragraph("Wanted: side-by-side films of held-out pairs, up to 10 chunks of 1.7 s, failures marked.")
        return Section(TITLE, "not run", "Not run.", body)
    held = [one for one in lines if one.split == "ood"]
    body = _rates(lines) + _method() + _followed(held)
    films = [one.film for one in lines if one.film]
    if films:
        body += paragraph(
            f"Films beside the lines in docs/results/raw, failures framed in red: {', '.join(films)}. Each shows the "
            "present, what was imagined at the last replan, what came then, and ten chunks imagined from the first "
            "picture alone.",
            soft=True,
        )
    answer = f"On held-out pairs the right pair is imagined in {_right(held)}.{_not_followed(held)}"
    return Section(TITLE, "measured", answer, body)


def _not_followed(held: Sequence[Imagined]) -> str:
    """The gap between video and action: failures although the right thing was imagined."""
    failed = [one for one in held if not one.executed_right and one.imagined_right is not None]
    if not failed:
        return ""
    right = sum(bool(one.imagined_right) for one in failed)
    return f" In {right} of {len(failed)} failures that could be judged it was right: there the arms did not follow."


def _right(lines: Sequence[Imagined]) -> str:
    return rate_text(entry(rate_of([bool(one.imagined_right) for one in lines if one.imagined_right is not None])))


def _rates(lines: Sequence[Imagined]) -> str:
    rows = []
    for split, name in _NAMES.items():
        part = [one for one in lines if one.split == split]
        if part:
            done = rate_text(entry(rate_of([one.executed_right for one in part])))
            rows.append((name, *_object(part), *_receptacle(part), _right(part), done))
    head = ("", "right object", "by chance", "right receptacle", "by chance", "both", "done by the arms")
    return table(head, rows)


def _object(part: Sequence[Imagined]) -> tuple[str, str]:
    return _one(part, lambda one: (one.object_imagined, one.object, one.objects))


def _receptacle(part: Sequence[Imagined]) -> tuple[str, str]:
    return _one(part, lambda one: (one.receptacle_imagined, one.receptacle, one.receptacles))


def _one(part: Sequence[Imagined], look: Callable[[Imagined], tuple[str | None, str, int]]) -> tuple[str, str]:
    """How often it was right, and how often a draw among the choices would be."""
    told = [look(one) for one in part]
    known = [(found == asked, 1 / count) for found, asked, count in told if found is not None]
    if not known:
        return "not told apart", "-"
    chance = sum(share for _, share in known) / len(known)
    return rate_text(entry(rate_of([right for right, _ in known]))), f"{100 * chance:.0f} %"


def _method() -> str:
    return paragraph(
        "Judged by a program: from the same start the scripted expert does the job for every object that an arm can "
        "take, and from the moment the object is lifted for every receptacle the arm reaches. The imagined picture "
        "counts as right when its change has most in common (cosine) with that of the asked job. The rate on seen "
        "pairs is what this judge can tell at best; it says what is imagined, not how sharply.",
        soft=True,
    )


def _followed(held: Sequence[Imagined]) -> str:
    counts = {
        (imagined, executed): sum((one.imagined_right, one.executed_right) == (imagined, executed) for one in held)
        for imagined in (True, False)
        for executed in (True, False)
    }
    rows = [
        ("right pair imagined", counts[True, True], counts[True, False]),
        ("wrong pair imagined", counts[False, True], counts[False, False]),
    ]
    return table(("held-out layouts", "done by the arms", "failed"), rows) if held else ""
