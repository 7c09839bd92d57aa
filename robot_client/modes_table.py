"""`python -m robot_client.modes_table`: the page docs/modes.md, made from the state machine itself.

Without arguments it prints the page; `--write FILE` writes it; `--check FILE` ends with 1 when the file is not current.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Final

from robot_client.modes import PERSON, TROUBLE, Event, Mode, next_mode

BEGIN: Final = "<!-- made by `python -m robot_client.modes_table --write docs/modes.md`: begin -->"
END: Final = "<!-- end -->"


def table() -> str:
    """Every pair of event and mode; a dot where nothing changes, a star where only a rig that parks itself goes."""
    modes = list(Mode)
    lines = [
        "| event | " + " | ".join(mode.value for mode in modes) + " |",
        "|---" * (len(modes) + 1) + "|",
    ]
    lines += [f"| {_name(event)} | " + " | ".join(_cell(mode, event) for mode in modes) + " |" for event in Event]
    return "\n".join(lines)


def page(text: str) -> str:
    """`text` with the table in its place."""
    if BEGIN not in text or END not in text:
        text = f"{BEGIN}\n{END}\n"
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: f"{BEGIN}\n{table()}\n{END}", text, flags=re.S)


def _name(event: Event) -> str:
    who = " (person)" if event in PERSON else " (trouble)" if event in TROUBLE else ""
    return f"`{event.value}`{who}"


def _cell(mode: Mode, event: Event) -> str:
    after, by_itself = next_mode(mode, event), next_mode(mode, event, parks_itself=True)
    if after is not by_itself:
        return f"{by_itself.value} *"
    return "." if after is mode else after.value


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m robot_client.modes_table", description=__doc__)
    parser.add_argument("--write", type=Path, default=None)
    parser.add_argument("--check", type=Path, default=None)
    arguments = parser.parse_args()
    path: Path | None = arguments.write or arguments.check
    before = path.read_text(encoding="utf-8") if path is not None and path.is_file() else ""
    after = page(before)
    if arguments.write is not None:
        arguments.write.write_text(after, encoding="utf-8")
    elif arguments.check is not None:
        print("current" if after == before else f"{path} is not current: run with --write")
        return int(after != before)
    else:
        print(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
