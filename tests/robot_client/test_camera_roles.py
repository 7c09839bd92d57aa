"""Cameras play roles by name."""

from __future__ import annotations

import itertools

import pytest

from contract.errors import ConfigurationError, FieldError, StackError
from contract.server_info import CameraSpec, ServerInfo
from contract.station import Camera
from robot_client.camera_roles import bind_cameras, offered_roles
from robot_client.scripted_link import scripted_info


def _camera(role: str) -> Camera:
    return Camera(role=role, device=f"twin:{role}", height=48, width=64, rate_hz=10.0)


def _info(optional: str = "") -> ServerInfo:
    roles = ("top", "left_wrist", "right_wrist")
    return scripted_info([CameraSpec(role=r, height=48, width=64, optional=r == optional) for r in roles])


def _bound(names: tuple[str, ...], chosen: dict[str, str] | None = None, optional: str = "") -> dict[str, str]:
    bound = bind_cameras([_camera(name) for name in names], chosen or {}, _info(optional))
    return {role: camera.device for role, camera in bound.items()}


@pytest.mark.parametrize("names", list(itertools.permutations(("top", "left_wrist", "right_wrist"))))
def test_roles_are_bound_by_name_whatever_the_order(names: tuple[str, ...]) -> None:
    assert _bound(names) == {name: f"twin:{name}" for name in names}


@pytest.mark.parametrize(
    "names",
    [
        ("front", "left_wrist", "right_wrist"),
        ("left_wrist", "right_wrist"),
        ("top", "left_wrist", "right_wrist", "belly"),
        (),
    ],
)
def test_a_missing_another_or_an_extra_camera_is_refused_with_both_sets(names: tuple[str, ...]) -> None:
    """B19: unknown names were ignored, and missing views filled by position."""
    with pytest.raises(FieldError) as caught:
        _bound(names)
    assert str(sorted(names)) in str(caught.value)
    assert "'left_wrist', 'right_wrist', 'top'" in str(caught.value)


def test_a_view_that_the_policy_calls_optional_may_be_missing() -> None:
    """B19: then it is left out, not sent as a black image."""
    assert set(_bound(("left_wrist", "right_wrist"), optional="top")) == {"left_wrist", "right_wrist"}
    with pytest.raises(FieldError):
        _bound(("left_wrist", "right_wrist"))


_MAP = {"top": "front", "left_wrist": "a", "right_wrist": "b"}


@pytest.mark.parametrize("names", list(itertools.permutations(("front", "a", "b", "top"))))
def test_a_map_is_obeyed_and_a_camera_it_leaves_out_changes_nothing(names: tuple[str, ...]) -> None:
    """B19: an extra fourth camera in any order."""
    assert _bound(names, _MAP) == {"top": "twin:front", "left_wrist": "twin:a", "right_wrist": "twin:b"}


@pytest.mark.parametrize(
    ("chosen", "kind"),
    [
        ({"top": "front", "left_wrist": "a", "right_wrist": "a"}, ConfigurationError),
        ({"top": "front", "left_wrist": "a", "right_wrist": "c"}, FieldError),
        ({"top": "front", "left_wrist": "a"}, FieldError),
        ({**_MAP, "belly": "top"}, FieldError),
    ],
)
def test_a_map_with_a_double_unknown_missing_or_unused_entry_is_refused(
    chosen: dict[str, str], kind: type[StackError]
) -> None:
    """B19: the same camera in two roles; unused entries of a map are errors."""
    with pytest.raises(kind):
        _bound(("front", "a", "b", "top"), chosen)


def test_a_role_given_twice_is_refused_before_any_server_is_asked() -> None:
    with pytest.raises(ConfigurationError, match="each role once"):
        offered_roles([_camera("top"), _camera("top")], {})
