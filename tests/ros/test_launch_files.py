"""Launch files: their arguments, paths and node names in every case; executed wherever `launch` can be imported."""

from __future__ import annotations

import ast
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAUNCH = ROOT / "launch"
FILES = ("sim", "real", "teleop", "replay", "bench")
NODES = {
    "sim": {"twin", "cameras", "client"},
    "real": {"cameras", "client"},
    "teleop": {"twin", "leader", "cameras", "client"},
    "replay": {"twin", "client"},
    "bench": set(),
}
PARAMETERS = ROOT / "ros2_ws" / "src" / "yam_vam" / "yam_vam"
WHY = "`launch` is not installed: it comes with ROS 2, or from the source of ros2/launch and ros2/launch_ros"
needs_launch = pytest.mark.skipif(
    importlib.util.find_spec("launch") is None or importlib.util.find_spec("launch_ros") is None, reason=WHY
)


def tree(name: str) -> ast.Module:
    return ast.parse((LAUNCH / f"{name}.launch.py").read_text(encoding="utf-8"))


def arguments(name: str) -> dict[str, str]:
    """Argument -> its kind, from the text."""
    common = {}
    for node in ast.parse((LAUNCH / "yam_arguments.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
            common[ast.unparse(node.targets[0])] = node.value
    found = {}
    for node in tree(name).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ARGUMENTS":
            for entry in node.value.elts:  # type: ignore[attr-defined]
                call = common[entry.attr] if isinstance(entry, ast.Attribute) else entry
                found[ast.literal_eval(call.args[0])] = ast.literal_eval(call.args[3]) if len(call.args) > 3 else "text"
    return found


def nodes(name: str) -> dict[str, set[str]]:
    """Node -> parameters it is given, from the text."""
    found: dict[str, set[str]] = {}
    for call in ast.walk(tree(name)):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "y.node":
            found[ast.literal_eval(call.args[0])] = {key.arg for key in call.keywords if key.arg}
    return found


@pytest.mark.parametrize("name", FILES)
def test_arguments_have_kinds_that_are_checked(name: str) -> None:
    kinds = {
        ast.literal_eval(key)
        for node in ast.parse((LAUNCH / "yam_arguments.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "KINDS"
        for key in node.value.keys  # type: ignore[attr-defined]
    }
    found = arguments(name)
    assert found
    assert set(found.values()) <= kinds
    if name != "bench":
        assert {"namespace", "record", "seconds"} <= found.keys()


@pytest.mark.parametrize("name", FILES)
def test_nodes_exist_and_their_parameters_are_declared(name: str) -> None:
    found = nodes(name)
    assert set(found) == NODES[name]
    for node, given in found.items():
        text = (PARAMETERS / ("client_parameters.py" if node == "client" else f"{node}.py")).read_text(encoding="utf-8")
        for parameter in given - {"station", "autostart"}:
            assert f'"{parameter}"' in text, f"{node} has no parameter {parameter}"


def test_launch_waits_longer_than_the_client_needs() -> None:
    text = (LAUNCH / "yam_launch.py").read_text(encoding="utf-8")
    numbers = {
        ast.unparse(node.targets[0]): ast.literal_eval(node.value)
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    from yam_vam.crew import EXIT_S, REST_S

    assert EXIT_S + REST_S < numbers["CLIENT_EXIT_S"] < numbers["SIGTERM_AFTER_S"]
    assert "respawn" not in text


def test_real_arms_come_up_without_torque() -> None:
    text = (LAUNCH / "real.launch.py").read_text(encoding="utf-8")
    assert 'autostart="configure"' in text
    assert "on_activate" not in text


def test_no_folder_or_file_shadows_ros() -> None:
    assert not (LAUNCH / "__init__.py").exists()
    assert not (LAUNCH / "launch.py").exists()


@needs_launch
@pytest.mark.parametrize("name", FILES)
def test_a_launch_file_loads_and_says_its_arguments(name: str) -> None:
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    description = get_launch_description_from_python_launch_file(str(LAUNCH / f"{name}.launch.py"))
    said = {argument.name: argument.description for argument in description.get_launch_arguments()}
    assert set(said) == set(arguments(name))
    assert all(said.values())


def launched(name: str, *given: str, until: str = "", **environment: str) -> tuple[int, str]:
    """`ros2 launch` without its command line: the real LaunchService on the file; exit code and output.

    A Ctrl-C follows the first line with `until` in it.
    """
    code = (
        "import sys; from launch import LaunchService, LaunchDescription\n"
        "from launch.actions import IncludeLaunchDescription as I\n"
        "from launch.launch_description_sources import PythonLaunchDescriptionSource as P\n"
        "s = LaunchService(); pairs = [a.split(':=', 1) for a in sys.argv[2:]]\n"
        "s.include_launch_description(LaunchDescription([I(P(sys.argv[1]), launch_arguments=pairs)]))\n"
        "sys.exit(s.run())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(LAUNCH / f"{name}.launch.py"), *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        start_new_session=True,
    )
    output = ""
    assert process.stdout is not None
    try:
        if until:
            for line in process.stdout:
                output += line
                if until in line:
                    process.send_signal(signal.SIGINT)
                    break
        rest, _ = process.communicate(timeout=300)
        return process.returncode, output + rest
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@needs_launch
@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("sim", ["server:=5555"], "tcp://HOST:PORT"),
        ("sim", ["bundle:=/nowhere"], "policy.toml"),
        ("sim", ["engage:=perhaps"], "perhaps"),
        ("sim", ["namespace:=two words"], "letters"),
        ("replay", ["episode:=/nowhere"], "exists"),
        ("real", ["station:=twin"], "server"),
    ],
)
def test_a_wrong_argument_starts_nothing(name: str, given: list[str], says: str) -> None:
    code, output = launched(name, *given)
    assert code != 0
    assert says in output
    assert "process started" not in output


@needs_launch
@pytest.mark.timeout(400)
def test_replay_on_the_twin_comes_up_and_ctrl_c_leaves_the_arms_held() -> None:
    episode = ROOT / "tests" / "robot_client" / "episodes" / "reference" / "episode"
    code, output = launched(
        "replay", f"episode:={episode}", "namespace:=test_replay", "transforms:=false", until="loop is up"
    )
    assert code == 0, output
    assert "arms left in HOLD" in output or "arms left in OFF" in output, output
    assert "Traceback" not in output, output
    assert output.count("process has finished cleanly") == 2, output


@needs_launch
def test_the_state_publisher_gets_the_calibrated_urdf_where_it_is_installed(tmp_path: Path) -> None:
    """A made-up one, found in the ament index like the real one; it shows what it was given."""
    program = tmp_path / "lib" / "robot_state_publisher" / "robot_state_publisher"
    mark = tmp_path / "share" / "ament_index" / "resource_index" / "packages" / "robot_state_publisher"
    for path in (program, mark):
        path.parent.mkdir(parents=True)
    mark.write_text("")
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys, yaml, xml.etree.ElementTree as xml\n"
        "for word in sys.argv:\n"
        "    if '/launch_params_' in word:\n"
        "        (part,) = yaml.safe_load(open(word)).values()\n"
        "        robot = xml.fromstring(part['ros__parameters']['robot_description'])\n"
        "        names = [link.get('name') for link in robot.iter('link')]\n"
        "        print('FRAMES', *sorted(name for name in names if name.endswith('_camera')))\n"
        "print('GIVEN', *sys.argv[1:])\n"
    )
    program.chmod(0o755)
    prefixes = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("AMENT_PREFIX_PATH")])])
    episode = ROOT / "tests" / "robot_client" / "episodes" / "reference" / "episode"
    given = ("replay", f"episode:={episode}", "namespace:=test_tf", "rig:=arms", "station:=twin")
    code, output = launched(*given, until="GIVEN", AMENT_PREFIX_PATH=prefixes)
    assert "FRAMES left_camera left_wrist_camera right_camera right_wrist_camera top_camera" in output, output
    assert "__ns:=/test_tf" in output
    assert "/tf_static:=tf_static" in output, "two stations do not share one tree"
    assert code == 0, output


@needs_launch
def test_without_a_state_publisher_launch_says_that_there_is_no_tf(tmp_path: Path) -> None:
    from launch import LaunchContext

    sys.path.insert(0, str(LAUNCH))
    try:
        import yam_launch
    finally:
        sys.path.remove(str(LAUNCH))
    actions = yam_launch.transforms({"transforms": True, "station": "twin", "namespace": ""})
    if len(actions) == 1 and type(actions[0]).__name__ == "LogInfo":
        said = "".join(part.perform(LaunchContext()) for part in actions[0].msg)
        assert "robot_state_publisher is not installed" in said
    else:
        assert actions[0].node_executable == "robot_state_publisher"
    assert yam_launch.transforms({"transforms": False, "station": "twin", "namespace": ""}) == []
