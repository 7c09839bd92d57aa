"""What the scripted server passes off as the chunk before is never a right answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from robot_client.faults import scripted_server
from robot_client.faults.scripted_server import ScriptedServer, info_for


def test_a_question_asked_again_does_not_get_its_own_rows_as_those_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """In 3 of 110 rounds a refused question was asked again for the same row: the chunk before was right, and the arms
    rightly drove on, which was counted as a stop that did not come."""
    sent = []
    monkeypatch.setattr(scripted_server, "encode", lambda chunk, request: sent.append(chunk) or ())
    server = ScriptedServer(info_for("twin"), "tcp://127.0.0.1:*")
    server._question(b"", 1, asked(0, 10))
    server.mode = "swap"
    for sequence, first_row in enumerate((11, 11, 12), 1):
        server._question(b"", 2, asked(sequence, first_row))
    assert [chunk.first_row for chunk in sent] == [10, 10, 10, 11]
    assert [chunk.sequence for chunk in sent] == [0, 1, 2, 3]


def asked(sequence: int, first_row: int) -> Any:
    """What the server reads of a question."""
    return SimpleNamespace(
        session="s", epoch=0, sequence=sequence, stamp_ns=0, first_row=first_row, prefix=(), joints=np.zeros(14)
    )
