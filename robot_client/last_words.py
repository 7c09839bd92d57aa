"""What a command of the robot side says last: how it leaves the arms, after whatever went wrong."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from contract.errors import ConfigurationError, StackError
from contract.station import load_station
from robot_client.holder.account import last_account


@contextmanager
def arms_named_last(rig: str, station: str, say: Callable[[str], None]) -> Iterator[None]:
    """On rig "yam" trouble within is said and ends the process with its exit code, and then each arm's state is said,
    however the block ends. Other rigs' arms are those of the process that ends."""
    if rig != "yam":
        yield
        return
    try:
        yield
    except StackError as error:
        say(f"yam-robot: {error}")
        sys.exit(2 if isinstance(error, ConfigurationError) else 1)
    except Exception:  # an outermost main: a traceback after it would hide how the arms are left
        say(traceback.format_exc())
        sys.exit(1)
    finally:
        for line in last_account(load_station(station))[0]:
            say(line)
