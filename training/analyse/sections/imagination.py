"""6. On held-out pairs: is the right thing imagined, and does the hand follow?"""

from __future__ import annotations

from collections.abc import Sequence

from training.analyse.entry import entry, rate_of
from training.analyse.imagined import Imagined
from training.analyse.section import Section, paragraph, rate_text, table

TITLE = "Imagined against executed video"


def section(lines: Sequence[Imagined]) -> Section:
    """A two by two table and the films."""
    if not lines:
        body = paragraph("Wanted: side-by-side films of held-out pairs, up to 10 chunks of 1.7 s, failures marked.")
        return Section(TITLE, "not run", "Not run.", body)
    counts = {
        (imagined, executed): sum((one.imagined_right, one.executed_right) == (imagined, executed) for one in lines)
        for imagined in (True, False)
        for executed in (True, False)
    }
    rows = [
        ("right pair imagined", counts[True, True], counts[True, False]),
        ("wrong pair imagined", counts[False, True], counts[False, False]),
    ]
    rate = entry(rate_of([one.imagined_right for one in lines]))
    films = [one.film for one in lines if one.film]
    body = table(("", "done", "failed"), rows)
    if films:
        body += paragraph(f"Films in docs/results/raw: {', '.join(films)}", soft=True)
    return Section(TITLE, "measured", f"The right pair is imagined in {rate_text(rate)} of held-out layouts.", body)
