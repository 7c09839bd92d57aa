"""What can be asked of the station: objects, receptacles, and the sentence "put the OBJECT in/on the RECEPTACLE"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contract.errors import VocabularyError


@dataclass(frozen=True, slots=True)
class Task:
    """One pick-and-place job, by name of object and receptacle."""

    object: str
    receptacle: str

    @property
    def instruction(self) -> str:
        """The sentence a person says, lower case."""
        return f"put the {self.object} {PREPOSITIONS[self.receptacle]} the {self.receptacle}"


OBJECTS: Final[tuple[str, ...]] = ("red cube", "green cylinder", "blue ball", "yellow brick")
PREPOSITIONS: Final[dict[str, str]] = {"bin": "in", "box": "in", "plate": "on", "bowl": "in"}
RECEPTACLES: Final[tuple[str, ...]] = tuple(PREPOSITIONS)

TASKS: Final[tuple[Task, ...]] = tuple(Task(thing, place) for thing in OBJECTS for place in RECEPTACLES)
"""All 16 pairs, object-major."""

WORDS: Final[tuple[str, ...]] = tuple(sorted({word for task in TASKS for word in task.instruction.split()}))
"""Every word an instruction can have; the vocabulary a small policy needs."""


def parse(instruction: str) -> Task:
    """The task an instruction names; case and spacing do not matter, every other difference does.

    Raises `VocabularyError` listing objects and receptacles.
    """
    said = " ".join(instruction.lower().split())
    for task in TASKS:
        if task.instruction == said:
            return task
    raise VocabularyError(
        "instruction",
        expected=f'"put the OBJECT in/on the RECEPTACLE", OBJECT one of {", ".join(OBJECTS)}; '
        f"RECEPTACLE one of {', '.join(f'{prep} the {name}' for name, prep in PREPOSITIONS.items())}",
        got=instruction,
        remedy=f'for example "{TASKS[0].instruction}"',
    )


def held_out(rotation: int) -> tuple[Task, ...]:
    """The pairs of a compositional split: object i with receptacle (i + rotation) mod 4.

    Every object and every receptacle stays in three seen pairs; the four rotations are disjoint and cover all pairs.
    """
    size = len(RECEPTACLES)
    return tuple(Task(thing, RECEPTACLES[(i + rotation) % size]) for i, thing in enumerate(OBJECTS))


def seen(rotation: int) -> tuple[Task, ...]:
    """The pairs that are not held out."""
    hidden = held_out(rotation)
    return tuple(task for task in TASKS if task not in hidden)
