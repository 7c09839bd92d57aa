"""The end of a run that has said its last word."""

from __future__ import annotations


class RunOver(SystemExit):
    """Nothing is left to tidy up: on a busy machine Python takes seconds to leave, which a person who stopped the arms
    would wait for."""
