"""What the launch files here share: how a node of yam_vam is started, and what the end of one means.

Nothing of our own packages is imported: `ros2 launch` may run under another interpreter than the nodes.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import (
    EmitEvent,
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    TimerAction,
)
from launch.event_handlers import OnProcessExit, OnShutdown
from launch.events import Shutdown
from launch.substitutions import Command, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from yam_arguments import Argument

from launch import LaunchContext, LaunchDescription

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent if (HERE.parent / "ros2_ws" / "src" / "yam_vam").is_dir() else None
"""None when these files were installed by colcon: then its setup.bash has the paths."""
PYTHON = os.environ.get("YAM_PYTHON", sys.executable)
"""Interpreter of the nodes; set YAM_PYTHON to that of a virtual environment."""
STATE_PUBLISHER = "robot_state_publisher"
CLIENT_EXIT_S = 8
"""The client leaves within this time; docs/ros.md."""
SIGTERM_AFTER_S = 12
SIGKILL_AFTER_S = 6
"""After SIGINT and after SIGTERM: longer than the client needs, so that launch never cuts its end short."""


def describe(arguments: tuple[Argument, ...], build: Any) -> LaunchDescription:
    """`build(values)` gives the actions from the typed values, once all arguments are right."""

    def make(context: LaunchContext) -> list[Any]:
        return build({a.name: a.value(LaunchConfiguration(a.name).perform(context)) for a in arguments})

    paths = [str(REPOSITORY / "ros2_ws" / "src" / "yam_vam"), str(REPOSITORY)] if REPOSITORY else []
    path = os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])
    return LaunchDescription(
        [
            *(argument.declare() for argument in arguments),
            *([SetEnvironmentVariable("PYTHONPATH", path)] if path else []),
            SetEnvironmentVariable("YAM_LAUNCH_PID", str(os.getpid())),  # nodes do not outlive us, kill -9 or not
            OpaqueFunction(function=make),
        ]
    )


def node(name: str, values: dict[str, Any], **parameters: Any) -> Node:
    """One node of yam_vam: `python -m yam_vam.NAME`, which needs no ament index and so runs unbuilt, too."""
    given = {key: value for key, value in parameters.items() if value is not None}
    return Node(
        executable=PYTHON,
        arguments=["-m", f"yam_vam.{name}"],
        exec_name=name,
        name=name,
        namespace=values["namespace"],
        parameters=[given],
        output="screen",
        sigterm_timeout=str(SIGTERM_AFTER_S),
        sigkill_timeout=str(SIGKILL_AFTER_S),
    )


def recorder(values: dict[str, Any]) -> list[Node]:
    """The recorder, when a folder was given."""
    if not values["record"]:
        return []
    return [node("recorder", values, autostart="activate", directory=values["record"], station=values["station"])]


def transforms(values: dict[str, Any]) -> list[Any]:
    """TF of the arms, and the cameras' frames on /tf_static: robot_state_publisher on the station's calibrated URDF.

    Its topics stay in the namespace, where two stations with the same frames do not meet.
    """
    if not values["transforms"]:
        return []
    try:
        get_package_prefix(STATE_PUBLISHER)
    except (PackageNotFoundError, OSError):  # the second without any ROS installation
        return [LogInfo(msg=f"no TF: {STATE_PUBLISHER} is not installed; /robot_description has the frames")]
    urdf = Command(f"{shlex.quote(PYTHON)} -m yam_vam.description --station {shlex.quote(values['station'])}")
    publisher = Node(
        package=STATE_PUBLISHER,
        executable=STATE_PUBLISHER,
        namespace=values["namespace"],
        parameters=[{"robot_description": ParameterValue(urdf, value_type=str)}],
        remappings=[
            ("/tf", "tf"),
            ("/tf_static", "tf_static"),
            ("robot_description", f"{STATE_PUBLISHER}/robot_description"),  # the client says it, too
        ],
        output="screen",
    )
    return [publisher]


def mailboxes(prefix: str) -> tuple[str, RegisterEventHandler]:
    """A folder on a memory file system, and what removes it at the end."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
    folder = tempfile.mkdtemp(prefix=prefix, dir=memory)
    remove = OpaqueFunction(function=lambda context: shutil.rmtree(folder, ignore_errors=True))
    return folder, RegisterEventHandler(OnShutdown(on_shutdown=lambda event, context: [remove]))


def policy_server(bundle: str, address: str) -> list[Any]:
    """A server of our own. Its end is said and answered by the client with HOLD; it is never started again here."""
    command = [PYTHON, "-m", "policy_server", "serve", "--bundle", bundle, "--bind", address, "--threads", "1"]
    command += ["--stop-with-stdin"]  # a pipe of ours, so that it does not outlive us
    server = ExecuteProcess(
        cmd=command,
        name="policy_server",
        output="screen",
        sigterm_timeout=str(SIGTERM_AFTER_S),
        sigkill_timeout=str(SIGKILL_AFTER_S),
    )

    def ended(event: Any, context: LaunchContext) -> list[LogInfo]:
        if context.is_shutdown:
            return []
        text = f"THE POLICY SERVER ENDED (code {event.returncode}): the arms hold once their plan runs out. "
        return [LogInfo(msg=text + "It is not started again into moving arms: end this launch, mend it, begin anew.")]

    return [server, RegisterEventHandler(OnProcessExit(target_action=server, on_exit=ended))]


def ends_all(client: Node) -> RegisterEventHandler:
    """Without the client nothing else is of use; nothing is started again by itself."""

    def ended(event: Any, context: LaunchContext) -> list[Any]:
        text = f"the client ended with code {event.returncode}; its last line says how the arms are left"
        return [LogInfo(msg=text), EmitEvent(event=Shutdown(reason="the client ended"))]

    return RegisterEventHandler(OnProcessExit(target_action=client, on_exit=ended))


def ends_after(seconds: float) -> list[TimerAction]:
    """A launch that ends by itself."""
    if not seconds:
        return []
    return [TimerAction(period=seconds, actions=[EmitEvent(event=Shutdown(reason=f"{seconds:g} s are over"))])]
