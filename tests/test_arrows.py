"""Import arrows of DESIGN: who may import whom, and what stays out of the robot."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OWN = ("contract", "policy_server", "robot_client", "calibration", "training")
ALLOWED: dict[str, set[str]] = {
    "contract": set(),
    "policy_server": {"contract"},
    "robot_client": {"contract"},
    "calibration": {"contract", "robot_client"},
    "training": {"contract", "policy_server", "robot_client", "calibration"},
    "ros2_ws": {"contract", "robot_client"},
    "launch": set(),
}
# Heavy library -> the only places (path prefixes) that may import it.
HOMES: dict[str, tuple[str, ...]] = {
    "torch": (
        "policy_server/model",
        "policy_server/export",
        "policy_server/engines/torch_engine.py",
        "policy_server/engines/torch_captured.py",
        "policy_server/bench/engines",
        "training",
    ),
    "diffusers": ("policy_server/model", "training"),
    "onnx": ("policy_server/export",),
    "onnxscript": ("policy_server/export",),
    "onnxruntime": ("policy_server/engines/onnxruntime_engine.py", "policy_server/bench/engines"),
    "tensorrt": ("policy_server/engines",),
    "tensorrt_rtx": ("policy_server/engines",),
    "tensorrt_rtx_bindings": ("policy_server/engines",),
    "cuda": ("policy_server/engines",),
    "rclpy": ("ros2_ws",),
    "sensor_msgs": ("ros2_ws",),
    "yam_vam": ("ros2_ws",),
    "launch_ros": ("launch",),
    "mujoco": ("robot_client/twin", "training"),
    "i2rt": ("robot_client/i2rt_paths.py", "robot_client/rigs", "robot_client/leaders", "robot_client/doctor"),
    "pickle": (),
    "cloudpickle": (),
    "dill": (),
}


def _sources() -> Iterator[Path]:
    for package in ALLOWED:
        yield from (ROOT / package).rglob("*.py")


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"importlib.import_module", "__import__"}:
            yield from ((node.lineno, arg.value) for arg in node.args if isinstance(arg, ast.Constant))


def _wrong(path: Path) -> Iterator[str]:
    place = path.relative_to(ROOT).as_posix()
    package = place.split("/")[0]
    for line, module in _imports(path):
        top = str(module).split(".")[0]
        if top in OWN and top != package and top not in ALLOWED[package]:
            yield f"{place}:{line} imports {module}; {package} may import {sorted(ALLOWED[package]) or 'none of ours'}"
        if top in HOMES and not place.startswith(HOMES[top]):
            yield f"{place}:{line} imports {module}, which belongs in {HOMES[top] or 'no file'}"


def test_imports_follow_the_arrows() -> None:
    wrong = [line for path in _sources() for line in _wrong(path)]
    assert not wrong, "\n".join(wrong)


def test_the_check_sees_a_wrong_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk above would pass on any tree if it could not fail."""
    bad = tmp_path / "robot_client" / "loop.py"
    bad.parent.mkdir()
    bad.write_text("import policy_server.replan\nfrom torch import nn\nimport pickle\n")
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    assert len(list(_wrong(bad))) == 3


def _modules_after(*statements: str) -> set[str]:
    code = "\n".join((*statements, "import sys", "print('\\n'.join(sys.modules))"))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_the_control_loop_loads_no_heavy_library() -> None:
    loaded = _modules_after("import robot_client.loop_process", "import robot_client.planner")
    assert not loaded & {"torch", "tensorrt", "diffusers", "onnxruntime", "rclpy", "mujoco", "policy_server"}


def test_the_loop_process_loads_no_image_library() -> None:
    loaded = _modules_after("import robot_client.loop_process")
    assert not loaded & {"cv2", "PIL", "av"}


def test_serving_on_onnxruntime_needs_no_torch() -> None:
    loaded = _modules_after(
        "import policy_server.cli, policy_server.policy, policy_server.server, policy_server.engines.onnxruntime_engine"
    )
    assert "onnxruntime" in loaded
    assert not loaded & {"torch", "diffusers", "onnx", "robot_client"}


def test_no_folder_named_launch_shadows_ros() -> None:
    assert not (ROOT / "launch" / "__init__.py").exists()
