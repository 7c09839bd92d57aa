"""What goes wrong with trials."""

from __future__ import annotations

from contract.errors import StackError


class TrialError(StackError):
    """A trial's folder is missing, altered, of something else, or not ready for what is asked."""

    code = "trial"
