"""Fixtures of the policy server's tests."""

import pytest

from tests.policy_server.pipeline import HEADS


@pytest.fixture(params=HEADS)
def kind(request: pytest.FixtureRequest) -> str:
    """Each place that a head's masses can come from."""
    return request.param
