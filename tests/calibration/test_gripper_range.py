"""Motor travel of grippers: by hand without torque on an emulated bus, and from shares of the file's range."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from calibration.arm_check import Travel
from calibration.commands import app
from calibration.gripper_range import checked_range, measured_range, raw_ends, remark
from contract.arms import ArmUnit
from contract.errors import ConfigurationError, RigError
from contract.station import STATIONS, load_station
from robot_client.emulator.arm import EmulatedArm
from robot_client.emulator.bus import Wire
from robot_client.emulator.network import Network, redirected

EXAMPLE = STATIONS / "yam_example.toml"


def unit(limits: tuple[float, float] = (0.0, -5.5)) -> ArmUnit:
    arms = load_station(str(EXAMPLE)).arms
    assert arms is not None
    return arms.left.model_copy(update={"gripper_limits_rad": limits})


class Hands:
    """Set the jaws of the arm that is named as the person is asked to."""

    def __init__(self, closed: float, opened: float) -> None:
        self._now_ns = 0
        self.arms = {
            side: EmulatedArm(lambda: self._now_ns, gripper_stops_rad=(-9.0, 9.0)) for side in ("left", "right")
        }
        self.network = Network(*(Wire(f"can_{side}", arm) for side, arm in self.arms.items()))
        self._at = {"closed": closed, "open": opened}

    def __call__(self, line: str) -> None:
        side, word = line.split()[0], next(word for word in self._at if f"jaws {word}" in line)
        self.arms[side]._position[6] = self._at[word]


@pytest.mark.parametrize(("closed", "opened"), [(0.1, 5.9), (0.2, -5.6), (-3.0, 3.0)])
def test_the_range_set_by_hand_is_read_without_torque_rising_mirrored_or_across_the_seam(
    closed: float, opened: float
) -> None:
    """B25, B27: limits of each unit, as they are and not as they are copied."""
    hands = Hands(closed, opened)
    with redirected(hands.network):
        found = measured_range(load_station(str(EXAMPLE)), "left", hands)
    np.testing.assert_allclose(found, (closed, opened), atol=0.001)
    assert not any(hands.arms["left"].powered())


@pytest.mark.parametrize(("closed", "opened", "word"), [(0.0, 0.083, "collapsed"), (1.0, 1.0, "collapsed"),
                                                        (-6.0, 6.0, "too long")])  # fmt: skip
def test_jaws_that_were_not_moved_or_moved_too_far_are_refused_naming_the_arm(
    closed: float, opened: float, word: str
) -> None:
    """B25: automatic range finding with blocked jaws gave 0.083 of 6.57 rad, and nothing complained."""
    hands = Hands(closed, opened)
    with redirected(hands.network), pytest.raises(ConfigurationError, match=f"right gripper.*{word}"):
        measured_range(load_station(str(EXAMPLE)), "right", hands)


def test_a_bus_that_is_not_there_and_a_motor_that_is_silent_are_named() -> None:
    hands = Hands(0.0, -5.5)
    hands.arms["right"].motors[6].silent = True
    with redirected(hands.network), pytest.raises(RigError, match=r"right arm, motor 7.*silence"):
        measured_range(load_station(str(EXAMPLE)), "right", hands)
    with redirected(Network()), pytest.raises(RigError, match="bus can_left"):
        measured_range(load_station(str(EXAMPLE)), "left", hands)


def test_the_range_reaches_the_station_file_once_a_person_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    hands, answers = Hands(0.15, -5.65), []

    def answer(prompt: str = "") -> str:
        answers.append(prompt)
        return "yes"

    monkeypatch.setattr("builtins.input", answer)
    monkeypatch.setattr("calibration.person.print", hands_or_print(hands), raising=False)
    with redirected(hands.network):
        app.cli(args=["gripper", "--station", str(path), "--arms", "left"])
    arms = load_station(str(path)).arms
    assert arms is not None
    np.testing.assert_allclose(arms.left.gripper_limits_rad, (0.15, -5.65), atol=0.001)
    assert arms.right.gripper_limits_rad == (0.0, -5.5) and len(answers) == 3


def hands_or_print(hands: Hands) -> Callable[[str], None]:
    def done(line: str = "") -> None:
        if "jaws" in line:
            hands(line)

    return done


def test_raw_travel_from_shares_is_in_the_motors_own_measure_and_short_travel_gets_a_word() -> None:
    """B25: the file's range itself may be short: all of it is then little of what the gripper has."""
    np.testing.assert_allclose(raw_ends(unit((0.0, -5.5)), Travel(0.1, 0.9)), (-0.55, -4.95))
    short = unit((0.0, -2.0))
    ends = checked_range("left", short, raw_ends(short, Travel(0.0, 1.0)))
    assert "30%" in remark("left", short, ends) and "yam-calibrate gripper" in remark("left", short, ends)
    assert remark("left", unit(), raw_ends(unit(), Travel(0.0, 1.0))) == ""
    with pytest.raises(ConfigurationError, match="left gripper"):
        checked_range("left", short, raw_ends(short, Travel(0.0, 0.3)))
