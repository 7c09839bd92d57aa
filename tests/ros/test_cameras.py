"""The cameras node: image topics into mailboxes, made-up devices out of them as topics."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from spinning import spinning
from yam_vam.cameras import CamerasNode
from yam_vam.images import image_of
from yam_vam.topics import role_topic

from contract.station import load_station
from robot_client.cameras.status import CameraStatus
from robot_client.rigs.mailbox_frames import MailboxFrames

pytestmark = pytest.mark.usefixtures("ros")

STATION = load_station("twin")
ROLES = [camera.role for camera in STATION.cameras]


def node(**values: Any) -> CamerasNode:
    made = CamerasNode(lambda: 0)
    done = made.set_parameters([Parameter(name, value=value) for name, value in values.items()])
    assert all(result.successful for result in done)
    return made


def picture(role: str, value: int, talker: Node) -> Any:
    camera = next(camera for camera in STATION.cameras if camera.role == role)
    image = np.full((camera.height, camera.width, 3), value, np.uint8)
    return image_of(image, talker.get_clock().now().nanoseconds, role)


def test_a_bad_image_is_dropped_and_counted_and_the_last_good_one_ages(tmp_path: Path) -> None:
    """B18: the node lives on, and nothing newer than the last good frame is offered to the planner."""
    talker = Node("drivers")
    topics = {role: role_topic("/{role}/image_raw", role) for role in ROLES}
    ends = {role: talker.create_publisher(topic.kind, topic.name, topic.qos) for role, topic in topics.items()}
    cameras = node(frames_dir=str(tmp_path), from_topics=True)
    frames = MailboxFrames(tmp_path, ROLES)
    with spinning(talker, cameras) as spin:
        assert cameras.trigger_configure().name == "SUCCESS"
        assert cameras.trigger_activate().name == "FAILURE", "no role has had a frame"

        def come() -> bool:
            for role in ROLES:
                ends[role].publish(picture(role, 7, talker))
            return set(frames.frames()) == set(ROLES)

        spin.until(come, what="a frame of every role")
        assert cameras.trigger_activate().name == "SUCCESS"
        good = frames.frames()["top"]
        assert (good.image == 7).all()
        for change in (("step", 0), ("encoding", "16UC1"), ("width", 0), ("encoding", "rgb99")):
            bad = picture("top", 200, talker)
            setattr(bad, *change)
            before = cameras._topics.refused["top"]

            def refused(bad: Any = bad, before: int = before) -> bool:
                ends["top"].publish(bad)
                return bool(cameras._topics.refused["top"] > before)

            spin.until(refused, what=f"a refusal of {change}")
        assert not (frames.frames()["top"].image == 200).any()
        well, text, values = cameras._report()
        assert not well
        assert values["refused top"] >= 4, text

        answer = cameras.set_parameters([Parameter("station", value="yam_example")])[0]
        assert not answer.successful, "it is read at configure: a new value would be a lie"
        assert "clean the node up first" in answer.reason

        assert cameras.trigger_deactivate().name == "SUCCESS"
        stamp_ns = frames.frames()["top"].stamp_ns
        for _ in range(20):
            ends["top"].publish(picture("top", 9, talker))
            spin.executor.spin_once(timeout_sec=0.01)
        assert frames.frames()["top"].stamp_ns == stamp_ns, "after deactivate images age"
        cameras.end()
    frames.close()


def test_devices_are_published_with_their_camera_info(tmp_path: Path) -> None:
    devices = [f"{role}=pattern:{role}" for role in ROLES]
    cameras = node(frames_dir=str(tmp_path), devices=devices, logs=str(tmp_path / "logs"))
    viewer = Node("viewer")
    seen: dict[str, Any] = {}
    for name in ("/{role}/image_raw", "/{role}/camera_info"):
        topic = role_topic(name, "left_wrist")
        viewer.create_subscription(topic.kind, topic.name, lambda m, name=name: seen.setdefault(name, m), topic.qos)
    with spinning(viewer, cameras) as spin:
        assert cameras.trigger_configure().name == "SUCCESS"
        assert cameras.trigger_activate().name == "SUCCESS"
        spin.until(lambda: len(seen) == 2, what="image and camera_info")
        image, info = (seen[name] for name in ("/{role}/image_raw", "/{role}/camera_info"))
        assert (image.height, image.width, image.encoding) == (64, 64, "rgb8")
        assert (info.height, info.width) == (64, 64)
        assert info.k[0] == 0.0, "not calibrated"
        children = [child.process for child in cameras._devices.children.values()]
        assert cameras.trigger_deactivate().name == "SUCCESS"
        assert cameras.trigger_cleanup().name == "SUCCESS"
        assert all(child.poll() is not None for child in children)


def test_a_wrong_device_text_is_refused_by_name(tmp_path: Path) -> None:
    cameras = node(frames_dir=str(tmp_path), devices=["top"])
    with spinning(cameras):
        assert cameras.trigger_configure().name == "FAILURE"
        cameras.end()


def test_trouble_that_is_over_is_not_told_as_if_it_were_there() -> None:
    """A camera that saw again was "delivering, 30 Hz camera top sends the same picture again and again"."""
    status = CameraStatus("top", "v4l2:/dev/a", "", "delivering", 9, 30.0, "device", 0, 1, "camera top: no frame")
    devices = SimpleNamespace(status=lambda role: status if role == "top" else None)
    node: Any = SimpleNamespace(
        watch=SimpleNamespace(troubles={}), _topics=None, _devices=devices, _station=load_station("twin")
    )
    well, _, values = CamerasNode._report(node)
    assert well and values == {"camera top": "delivering, 30 Hz; last trouble: camera top: no frame"}
