"""What ROS adds between camera topic and observation, and between chunk and command topic; prints the report's path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import yam_arguments as a
import yam_launch as y
from launch.actions import EmitEvent, ExecuteProcess, LogInfo, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown

ARGUMENTS = (
    a.Argument("report", "out/bench/ros.json", "file for the results"),
    a.Argument("seconds", "20", "length of each part", "seconds"),
    a.Argument("width", "640", "of the made-up camera images", "int"),
    a.Argument("height", "480", "of the made-up camera images", "int"),
    a.Argument("rate", "30", "images a second of each of the three cameras", "float"),
)


def build(values):
    """The bench starts and ends its own processes; no arm, no server."""
    report = Path(values["report"]).absolute()
    options = [
        "--json",
        report,
        "--seconds",
        values["seconds"],
        "--width",
        values["width"],
        "--height",
        values["height"],
    ]
    command = [y.PYTHON, "-m", "yam_vam.bench", *map(str, options), "--rate", str(values["rate"])]
    bench = ExecuteProcess(cmd=command, name="bench", output="screen", sigterm_timeout=str(y.SIGTERM_AFTER_S))

    def ended(event, context):
        text = f"report: {report}" if event.returncode == 0 else f"the bench ended with code {event.returncode}"
        return [LogInfo(msg=text), EmitEvent(event=Shutdown(reason="the bench is over"))]

    return [bench, RegisterEventHandler(OnProcessExit(target_action=bench, on_exit=ended))]


def generate_launch_description():
    """For `ros2 launch`."""
    return y.describe(ARGUMENTS, build)
