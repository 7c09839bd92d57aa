"""Fast DDS gets room for three cameras' images, unless a person has set it up otherwise."""

from __future__ import annotations

import os
import xml.etree.ElementTree as xml

import pytest
from yam_vam.middleware import NAMES, PROFILES, make_room_for_images
from yam_vam.shared_files import shared_file

SPACE = "{http://www.eprosima.com}"
LARGEST_BYTES = 1280 * 720 * 3


def test_the_shared_memory_holds_two_large_pictures_of_each_camera() -> None:
    """With 512 KiB, less than one picture, about half of what three cameras at 30 Hz published never arrived."""
    root = xml.parse(shared_file(PROFILES)).getroot()
    descriptors = {
        found.findtext(f"{SPACE}type"): found.findtext(f"{SPACE}segment_size")
        for found in root.iter(f"{SPACE}transport_descriptor")
    }
    assert set(descriptors) == {"SHM", "UDPv4"}, "other hosts are reached as without the file"
    assert int(descriptors["SHM"] or 0) >= 2 * 3 * LARGEST_BYTES
    named = {found.text for found in root.iter(f"{SPACE}transport_id")}
    used = {found.text for found in root.find(f".//{SPACE}userTransports") or ()}
    assert used == named
    (participant,) = root.iter(f"{SPACE}participant")
    assert participant.get("is_default_profile") == "true"


@pytest.mark.parametrize(("distribution", "name"), [("", NAMES[0]), ("kilted", NAMES[0]), ("jazzy", NAMES[1])])
def test_it_is_set_where_the_fast_dds_of_the_distribution_looks(
    distribution: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in NAMES:
        monkeypatch.setenv(other, "")
    monkeypatch.setenv("ROS_DISTRO", distribution)
    make_room_for_images()
    assert [one for one in NAMES if os.environ[one]] == [name]
    assert os.environ[name] == str(shared_file(PROFILES))


@pytest.mark.parametrize("name", NAMES)
def test_what_a_person_has_set_stays(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for other in NAMES:
        monkeypatch.setenv(other, "")
    monkeypatch.setenv(name, "/mine.xml")
    make_room_for_images()
    assert [os.environ[one] for one in NAMES if os.environ[one]] == ["/mine.xml"]
