"""What a calibration of real arms says when it ends, however it ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from calibration.session import opened
from calibration.twin import BOARD
from contract.errors import RigError
from robot_client.cameras import start
from robot_client.holder import account


def test_each_arms_state_is_said_and_not_assumed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After Ctrl-C it said "real arms are still held", also of arms that a person had relaxed at its own request."""

    class Cameras:
        def __init__(self, *_: object) -> None:
            self.children: dict[str, object] = {}

        def start(self) -> Iterator[str]:
            yield "camera top"
            raise RigError("camera left_wrist", expected="an image", got="none")

    monkeypatch.setattr(start, "Cameras", Cameras)
    monkeypatch.setattr(account, "last_account", lambda station: (["left arm: relaxed", "right arm: holding"], False))
    with pytest.raises(RigError, match="left_wrist"), opened("station", "yam_example", BOARD):
        raise AssertionError("it must not begin")
    assert capsys.readouterr().out.splitlines() == ["camera top", "left arm: relaxed", "right arm: holding"]
