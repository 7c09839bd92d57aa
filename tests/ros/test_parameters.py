"""What a parameter of a node may be."""

from __future__ import annotations

import pytest
from yam_vam.parameters import Parameter

from contract.errors import ConfigurationError
from robot_client.loop_inbox import LONGEST_TEXT


def test_an_instruction_longer_than_the_loop_takes_is_refused_and_does_not_end_the_node() -> None:
    """It came by a topic, fitted no datagram to the loop, and the error ended the node that watches the arms."""
    instruction = Parameter("instruction", "", "what is asked of the policy", changes=True)
    assert instruction.checked("x" * LONGEST_TEXT)
    with pytest.raises(ConfigurationError, match=r"parameter instruction.*at most 1000.*200000 characters"):
        instruction.checked("x" * 200_000)
