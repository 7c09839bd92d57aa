"""The ament package: what it says of itself, and that colcon builds it."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from yam_vam.description import description, urdf_path

from contract.layout import URDF_NAMES
from contract.station import load_station

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ros2_ws" / "src" / "yam_vam"
NODES = ("client", "cameras", "leader", "recorder", "twin", "arms_bridge")
OURS = {"contract", "robot_client", "yam_vam"}
PIP = {"numpy", "pydantic", "cv2"}


def imports(path: Path) -> set[str]:
    """Top-level packages that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names)


def test_package_xml_names_every_ros_package_that_is_imported() -> None:
    depends = {found.text for found in xml.parse(PACKAGE / "package.xml").getroot().iter("exec_depend")}
    used = set().union(*(imports(path) for path in (PACKAGE / "yam_vam").rglob("*.py"))) - OURS - PIP
    assert used <= depends, used - depends
    assert "rclpy" in used
    launched = set().union(*(imports(path) for path in (ROOT / "launch").glob("*.py")))
    assert launched - {"yam_launch", "yam_arguments"} <= depends, launched - depends
    asked = set().union(*(imports(path) for path in (ROOT / "tests" / "ros").glob("*.py")))
    assert "lifecycle_msgs" in asked & depends


def test_the_version_is_that_of_the_project() -> None:
    versions = {xml.parse(PACKAGE / "package.xml").getroot().findtext("version")}
    for file in (PACKAGE / "setup.py", ROOT / "pyproject.toml"):
        versions |= set(re.findall(r'^\s*version ?= ?"([^"]+)"', file.read_text(encoding="utf-8"), re.MULTILINE)[:1])
    assert len(versions) == 1, versions


def test_launch_files_import_nothing_of_ours() -> None:
    used = set().union(*(imports(path) for path in (ROOT / "launch").glob("*.py")))
    assert used <= {"launch", "launch_ros", "ament_index_python", "yam_launch", "yam_arguments"}


def test_every_node_has_an_entry_point() -> None:
    setup = (PACKAGE / "setup.py").read_text(encoding="utf-8")
    for node in NODES:
        assert f'"{node}"' in setup
        source = ast.parse((PACKAGE / "yam_vam" / f"{node}.py").read_text(encoding="utf-8"))
        assert "main" in {part.name for part in source.body if isinstance(part, ast.FunctionDef)}


def test_the_urdf_has_the_joints_of_the_topics_and_finds_its_meshes() -> None:
    robot = xml.parse(urdf_path()).getroot()
    moving = {j.get("name") for j in robot.iter("joint") if j.get("type") != "fixed" and j.find("mimic") is None}
    assert moving == set(URDF_NAMES)
    names = [mesh.get("filename", "") for mesh in xml.fromstring(description(load_station("twin"))).iter("mesh")]
    if importlib.util.find_spec("i2rt") is None:
        pytest.skip("i2rt is not installed: meshes stay relative")
    assert names
    assert all(Path(name.removeprefix("file://")).is_file() for name in names)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("how", [(), ("--symlink-install",)], ids=["copied", "linked"])
def test_colcon_builds_the_package(tmp_path: Path, how: tuple[str, ...]) -> None:
    """In a copy; outside a ROS installation AMENT_PREFIX_PATH is set by hand. Linked, launch files were left out."""
    if importlib.util.find_spec("colcon_ros") is None:
        pytest.skip("colcon is not installed: pip install colcon-common-extensions")
    ignored = shutil.ignore_patterns("__pycache__", "build", "install", "log")
    for folder in ("ros2_ws", "launch"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    colcon = [sys.executable, "-m", "colcon", "--log-base", str(tmp_path / "log"), "build"]
    built = subprocess.run(
        [*colcon, "--base-paths", "ros2_ws/src", "--event-handlers", "console_direct+", *how],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    prefix = tmp_path / "install" / "yam_vam"
    share = prefix / "share" / "yam_vam"
    wanted = {"sim", "real", "teleop", "replay", "bench"}
    assert {path.name.removesuffix(".launch.py") for path in (share / "launch").glob("*.launch.py")} == wanted
    installed = ("package.xml", "urdf/yam_station.urdf", "rviz/yam.rviz", "config/client.yaml", "config/fastdds.xml")
    for file in (*installed, "launch/yam_launch.py"):
        assert (share / file).is_file(), file
    site = next(prefix.glob("lib/python*/site-packages"))
    # What install/setup.bash would set: of a linked build the modules lie in the build folder.
    places = [str(site), str(tmp_path / "build" / "yam_vam"), str(ROOT)]
    environment = {**os.environ, "AMENT_PREFIX_PATH": str(prefix), "PYTHONPATH": os.pathsep.join(places)}
    where = "from ament_index_python import get_package_share_directory as s; print(s('yam_vam'))"
    found = subprocess.run(
        [sys.executable, "-c", where], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert found.stdout.strip() == str(share)
    asked = subprocess.run(
        [prefix / "lib" / "yam_vam" / "arms_bridge", "--help"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "--run-dir" in asked.stdout
