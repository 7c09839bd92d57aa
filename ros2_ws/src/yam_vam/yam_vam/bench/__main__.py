"""`python -m yam_vam.bench --json FILE`: three parts, a table, a file. Exit code 1 when something did not come."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rclpy.signals import SignalHandlerOptions

from contract.errors import StackError
from yam_vam.bench.parts import Plan, commands_by_topic, images_by_topic, images_without_ros, lateness
from yam_vam.middleware import NAMES, make_room_for_images


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m yam_vam.bench", description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("out/bench/ros.json"))
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each part")
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=480)
    parser.add_argument("--rate", type=float, default=30.0, help="images a second of each of three cameras")
    parser.add_argument("--without-room", action="store_true", help="Fast DDS as it comes, to compare (middleware.py)")
    asked = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    if not asked.without_room:
        make_room_for_images()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        result = _measure(Plan(asked.seconds, asked.width, asked.height, asked.rate))
    except StackError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    finally:
        rclpy.try_shutdown()
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"report: {asked.json}")
    return 0


def _measure(plan: Plan) -> dict[str, Any]:
    came = images_by_topic(plan)
    print(f"images that came {came.count} of {came.sent}", flush=True)
    result: dict[str, Any] = {
        "what": "added by ROS, milliseconds; Fast DDS, all processes on one host",
        "cameras": f"3 x {plan.width}x{plan.height} at {plan.rate_hz:g} Hz",
        "fast_dds_profiles": next((Path(os.environ[name]).name for name in NAMES if os.environ.get(name)), "none"),
        "cpu": platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load_average": os.getloadavg()[0],
        "images_sent": came.sent,
        "images_lost": came.sent - came.count,
        "camera_topic_to_mailbox_ms": _row("camera topic -> mailbox", came.delays_ns),
        "mailbox_without_ros_ms": _row("mailbox without ROS", images_without_ros(plan)),
        "command_to_topic_ms": _row("loop's command -> topic", commands_by_topic(plan)),
    }
    late: dict[bool, list[int]] = {False: [], True: []}
    for with_images in (False, True, False, True):
        late[with_images] += lateness(plan, with_images)
    result["loop_lateness_alone_ms"] = _row("loop late, alone", late[False])
    result["loop_lateness_beside_cameras_ms"] = _row("loop late, beside 3 streams", late[True])
    return result


def _row(name: str, delays_ns: Sequence[int]) -> dict[str, float]:
    """Percentiles [ms]; printed as they come."""
    if not delays_ns:
        raise StackError(name, expected="measurements", got="none")
    ms = np.array(delays_ns) / 1e6
    row = {f"p{percent}": round(float(np.percentile(ms, percent)), 3) for percent in (50, 95, 99)}
    row |= {"max": round(float(ms.max()), 3), "count": len(ms)}
    print(f"{name:28} p50 {row['p50']:8.3f}  p95 {row['p95']:8.3f}  p99 {row['p99']:8.3f} ms  ({len(ms)})", flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main())
