"""The client node on the ideal rig: lifecycle, services, instruction, external trajectories; with the real loop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.node import Node
from rclpy.parameter import Parameter
from spinning import Spin, spinning
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from yam_vam.client import ClientNode
from yam_vam.topics import loop_topics
from yam_vam.torque import TorqueOn

from contract.errors import RigError
from contract.layout import URDF_NAMES
from contract.station import load_station
from robot_client.episodes.ros_messages import from_urdf, to_urdf
from robot_client.local_messages import LoopStatus

pytestmark = pytest.mark.usefixtures("ros")

HOME = load_station("twin").poses.home.vector()


class Watcher(Node):
    """What anybody on the network sees; it comes late, as people do."""

    def __init__(self) -> None:
        super().__init__("watcher")
        topics = loop_topics()
        self.modes: list[str] = []
        self.instructions: list[str] = []
        self.told: list[np.ndarray] = []
        mode, instruction, told = (topics[name] for name in ("/mode", "/policy/instruction", "/joint_commands"))
        self.create_subscription(
            mode.kind, mode.name, lambda m: self.modes.append(json.loads(m.data)["mode"]), mode.qos
        )
        take = lambda m: self.instructions.append(m.data)  # noqa: E731
        self.create_subscription(instruction.kind, instruction.name, take, instruction.qos)
        self.create_subscription(told.kind, told.name, lambda m: self.told.append(np.array(m.position)), told.qos)
        self.talk = self.create_publisher(String, "client/instruction", 10)
        self.trajectories = self.create_publisher(JointTrajectory, "external_trajectory", 10)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, ros: None) -> Iterator[tuple[ClientNode, Watcher, Spin]]:
    """One client for the tests below, in the order in which they stand."""
    client, watcher = ClientNode(lambda: 0), Watcher()
    client.set_parameters([Parameter(name, value=value) for name, value in (
        ("rig", "ideal"), ("logs", str(tmp_path_factory.mktemp("logs"))), ("report_ticks", 2),
    )])  # fmt: skip
    with spinning(client, watcher) as spin:
        client.begin()
        yield client, watcher, spin
        client.end()


def change(stage: Any, transition: int) -> bool:
    """A transition as `ros2 lifecycle set` asks for it."""
    answer = stage[2].call(stage[1], ChangeState, "client/change_state", transition=Transition(id=transition))
    return bool(answer.success)


def trigger(stage: Any, name: str) -> Any:
    return stage[2].call(stage[1], Trigger, f"client/{name}")


def state(stage: Any) -> str:
    return str(stage[2].call(stage[1], GetState, "client/get_state").current_state.label)


def trajectory(goal: np.ndarray, seconds: float, names: Any = URDF_NAMES) -> JointTrajectory:
    point = JointTrajectoryPoint(positions=[float(v) for v in to_urdf(goal)][: len(names)])
    point.time_from_start.sec, point.time_from_start.nanosec = int(seconds), int(seconds % 1 * 1e9)
    return JointTrajectory(joint_names=list(names), points=[point])


def test_an_unconfigured_client_answers_every_service_and_does_nothing(stage: Any) -> None:
    assert state(stage) == "unconfigured"
    for name in ("engage", "hold", "release", "park", "external", "replay"):
        answer = trigger(stage, name)
        assert not answer.success
        assert "not" in answer.message


def test_a_parameter_out_of_range_is_refused_with_its_reason(stage: Any) -> None:
    client = stage[0]
    assert not client.set_parameters([Parameter("episode_speed", value=3.0)])[0].successful
    assert not client.set_parameters([Parameter("seed", value=-1)])[0].successful
    assert client.describe_parameter("rig").description


def test_a_wrong_choice_is_refused_with_the_right_ones(stage: Any) -> None:
    answer = stage[0].set_parameters([Parameter("rig", value="hexapod")])[0]
    assert not answer.successful
    assert "ideal" in answer.reason
    assert stage[0].get_parameter("rig").value == "ideal"


def test_a_client_that_cannot_be_configured_stays_as_it_was(stage: Any) -> None:
    stage[0].set_parameters([Parameter("station", value="nowhere")])
    assert not change(stage, Transition.TRANSITION_CONFIGURE)
    assert state(stage) == "unconfigured"
    stage[0].set_parameters([Parameter("station", value="twin")])


def test_configure_starts_the_loop_without_torque(stage: Any) -> None:
    assert change(stage, Transition.TRANSITION_CONFIGURE)
    assert state(stage) == "inactive"
    assert stage[0].mode == "OFF"
    assert not trigger(stage, "engage").success


def test_activate_is_torque_where_the_arms_are(stage: Any) -> None:
    _, watcher, spin = stage
    assert change(stage, Transition.TRANSITION_ACTIVATE)
    spin.until(lambda: len(watcher.told) > 3, what="joint commands")
    assert from_urdf(watcher.told[-1]) == pytest.approx(HOME, abs=1e-9)
    spin.until(lambda: "IDLE" in watcher.modes, what="mode IDLE on the latched topic")


def test_without_a_policy_nothing_can_be_engaged_and_the_reason_is_given(stage: Any) -> None:
    answer = trigger(stage, "engage")
    assert not answer.success
    assert "no policy server" in answer.message
    assert "no episode" in trigger(stage, "replay").message


def test_the_instruction_comes_by_topic_and_by_parameter(stage: Any) -> None:
    client, watcher, spin = stage
    spin.until(lambda: watcher.talk.get_subscription_count() == 1, what="the client's subscription")
    watcher.talk.publish(String(data="stack the cups"))
    spin.until(lambda: "stack the cups" in watcher.instructions, what="the instruction by topic")
    assert client.get_parameter("instruction").value == "stack the cups"
    assert client.set_parameters([Parameter("instruction", value="fold it")])[0].successful
    spin.until(lambda: watcher.instructions[-1] == "fold it", what="the instruction by parameter")
    assert not client.set_parameters([Parameter("station", value="other")])[0].successful


def test_an_external_trajectory_is_refused_until_a_person_lets_it_in(stage: Any) -> None:
    client, watcher, spin = stage
    goal = HOME + np.where(np.arange(14) == 1, 0.1, 0.0)
    spin.until(lambda: watcher.trajectories.get_subscription_count() == 1, what="the client's subscription")
    watcher.trajectories.publish(trajectory(goal, 0.5))
    spin.until(lambda: client.doors.counts["external trajectories refused"] == 1, what="a refusal")
    assert client.mode == "IDLE"
    assert trigger(stage, "external").success
    spin.until(lambda: client.mode == "EXTERNAL", what="EXTERNAL")
    assert from_urdf(watcher.told[-1]) == pytest.approx(HOME, abs=1e-6), "what came before must not run"


def test_an_external_trajectory_runs_through_loop_and_safety(stage: Any) -> None:
    client, watcher, spin = stage
    goal = HOME + np.where(np.arange(14) == 1, 0.1, 0.0)
    watcher.trajectories.publish(trajectory(goal, 0.5))
    spin.until(lambda: np.abs(from_urdf(watcher.told[-1]) - goal).max() < 1e-3, 60.0, "the goal")
    steps = np.abs(np.diff(np.array(watcher.told), axis=0)).max()
    assert steps < 0.05, "one tick of ours is at most 1.5 rad/s for some periods"
    watcher.trajectories.publish(trajectory(goal, 0.5, ["left_elbow"]))
    before = client.doors.counts["external trajectories refused"]
    spin.until(lambda: client.doors.counts["external trajectories refused"] > before, what="a refused name")


def test_hold_release_and_park_do_what_they_say(stage: Any) -> None:
    client, _, spin = stage
    assert trigger(stage, "hold").success
    assert client.mode == "HOLD"
    assert trigger(stage, "release").success
    assert client.mode == "IDLE"
    assert not trigger(stage, "release").success, "there is nothing to release"
    assert "release changes nothing in IDLE" in client._report()[1]
    assert trigger(stage, "park").success
    assert "changes nothing" not in client._report()[1], "what was refused before is no longer the last word"
    spin.until(lambda: client.mode == "HOLD", 60.0, "the park pose")


def test_hold_is_answered_while_the_client_does_something_else(stage: Any) -> None:
    """It waited for its turn in the node's executor, behind an activation of seconds. Here nothing spins the node."""
    client, watcher, spin = stage
    trigger(stage, "release")
    assert client.mode == "IDLE"
    spin.executor.remove_node(client)
    answers: list[Any] = []
    hold = watcher.create_client(Trigger, "client/hold")
    spin.until(hold.service_is_ready, what="the service")
    hold.call_async(Trigger.Request()).add_done_callback(lambda future: answers.append(future.result()))

    def answered() -> bool:
        client.pump()  # as every wait of the node does
        return bool(answers)

    spin.until(answered, what="the answer")
    assert answers[0].success
    assert client.mode == "HOLD"
    spin.executor.add_node(client)
    watcher.destroy_client(hold)


def test_relax_is_a_persons_word_on_rigs_that_fall(stage: Any) -> None:
    """The ideal rig has nothing that could fall and relaxes at once; docs/arms.md has the real ones."""
    answer = stage[2].call(stage[1], SetBool, "client/relax", data=True)
    assert answer.success
    assert stage[0].mode == "RELAXED"


def test_deactivate_holds_and_activate_is_torque_again(stage: Any) -> None:
    assert change(stage, Transition.TRANSITION_DEACTIVATE)
    assert change(stage, Transition.TRANSITION_ACTIVATE)
    assert stage[0].mode == "IDLE"
    assert change(stage, Transition.TRANSITION_DEACTIVATE)
    assert stage[0].mode == "HOLD"


def test_cleanup_ends_every_process_and_the_node_can_be_configured_again(stage: Any) -> None:
    client = stage[0]
    crew = client.crew
    children = [child.process for child in crew._children.values()]
    run_dir: Path = crew.run_dir
    assert change(stage, Transition.TRANSITION_CLEANUP)
    assert state(stage) == "unconfigured"
    assert all(child.poll() == 0 for child in children)
    assert not run_dir.exists()
    assert client.crew is None
    assert change(stage, Transition.TRANSITION_CONFIGURE)


def test_shutdown_from_inactive_leaves_nothing(stage: Any) -> None:
    client = stage[0]
    assert change(stage, Transition.TRANSITION_INACTIVE_SHUTDOWN)
    assert client.over
    assert client.exit_code == 0
    assert client.crew is None


def held(mode: str = "HOLD") -> LoopStatus:
    return LoopStatus(0, mode, "hold", 1, "", "the joints were late", -1, "", 0, True, {}, {}, False)


def test_autostart_never_leads_out_of_hold() -> None:
    """Only a person does; whoever calls the transition is one, the parameter is not."""
    assert TorqueOn(held(), by_itself=False).act(held()) == "release"
    with pytest.raises(RigError, match="the joints were late"):
        TorqueOn(held(), by_itself=True).act(held())


def test_an_activation_never_undoes_a_hold_that_came_after_it() -> None:
    """It told the loop the same until it was done: a person's hold in the middle was released half a second later."""
    torque = TorqueOn(held(), by_itself=False)
    assert [torque.act(held()) for _ in range(3)] == ["release", "alive", "alive"]
    torque = TorqueOn(held("OFF"), by_itself=False)
    assert torque.act(held("OFF")) == "enable"
    assert torque.act(held()) == "alive", "a HOLD that was not there when the person said activate"
