"""What all our lifecycle nodes have in common: errors said in one line, an end that is bounded and done once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from contract.errors import ConfigurationError, StackError
from yam_vam.parameters import AUTOSTART, Parameter, declare, values_of
from yam_vam.qos_watch import QosWatch

DONE: Final = TransitionCallbackReturn.SUCCESS
REFUSED: Final = TransitionCallbackReturn.FAILURE
BROKEN: Final = TransitionCallbackReturn.ERROR


class ManagedNode(LifecycleNode):
    """Give it `up`, `arm`, `disarm` and `down`; each raises `StackError` when it cannot.

    configure = up, activate = arm, deactivate = disarm, cleanup and shutdown = down. `down` must be harmless in every
    state and may be called twice; topics made through `watch` are closed after it. `told_to_end` is asked in every
    longer wait: a signal has come.
    """

    def __init__(self, name: str, parameters: tuple[Parameter, ...], told_to_end: Callable[[], int]) -> None:
        super().__init__(name)
        self.parameters = (AUTOSTART, *parameters)
        declare(self, self.parameters)
        self.told_to_end = told_to_end
        self.state = "unconfigured"
        self.by_itself = False
        """A transition of `autostart` is under way, not of a person."""
        self.over = False
        """Nothing is left to do; the process may end."""
        self.exit_code = 0
        self.watch = QosWatch(self, self.get_logger().error)
        self.add_on_set_parameters_callback(self._may_change)

    def begin(self) -> None:
        """For the process: start what must be there in every state. `end` is its other end."""

    def up(self, values: dict[str, Any]) -> None:
        """Open everything; no torque, no motion."""

    def arm(self) -> None:
        """From now on it acts."""

    def disarm(self) -> None:
        """It acts no more; nothing falls."""

    def down(self) -> None:
        """Close everything."""

    def changed(self, name: str, value: Any) -> None:
        """A parameter that may change at any time is about to have this value."""

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open, or say why not and stay unconfigured."""
        if self._did("configure", lambda: self.up(values_of(self, self.parameters))):
            self.state = "inactive"
            return DONE
        self._did("clean up", self._close)
        return REFUSED

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Arm, or say why not and stay inactive."""
        if not self._did("activate", self.arm):
            return REFUSED
        self.state = "active"
        super().on_activate(state)
        return DONE

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Disarm; a node that cannot is in error."""
        if not self._did("deactivate", self.disarm):
            return BROKEN
        self.state = "inactive"
        super().on_deactivate(state)
        return DONE

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close; the node can be configured again."""
        return DONE if self._did("clean up", self._close) else BROKEN

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close for good."""
        done = self._did("shut down", self._close)
        self.over = True
        return DONE if done else BROKEN

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close; the process ends and says so by its exit code."""
        self._did("close after an error", self._close)
        self.exit_code, self.over = 1, True
        return DONE

    def end(self) -> None:
        """For the process: close whatever is open, whichever state the node is in."""
        if not self._did("end", self._close):
            self.exit_code = 1

    def fail(self, why: str) -> None:
        """Something that this node cannot do without is gone; it is never started again by itself."""
        self.get_logger().fatal(why)
        self.exit_code, self.over = 1, True

    def _may_change(self, asked: list[Any]) -> SetParametersResult:
        """What is read at configure can be set before it only: a value that nothing follows would be a lie."""
        own = {parameter.name: parameter for parameter in self.parameters}
        ours = [(own[one.name], one.value) for one in asked if one.name in own]
        locked = [one.name for one, _ in ours if not one.changes and self.state != "unconfigured"]
        if locked:
            return SetParametersResult(successful=False, reason=f"{', '.join(locked)}: clean the node up first")
        for one, value in ours:
            try:
                one.checked(value)
            except ConfigurationError as error:
                return SetParametersResult(successful=False, reason=str(error))
        for one, value in ours:
            if one.changes:
                self.changed(one.name, value)
        return SetParametersResult(successful=True)

    def _close(self) -> None:
        self.state = "unconfigured"
        self.down()
        self.watch.close_all()

    def _did(self, what: str, act: Callable[[], None]) -> bool:
        try:
            act()
        except StackError as error:
            if self.by_itself:  # others may still be starting
                self.get_logger().warning(f"cannot {what} yet, trying again: {error}")
            else:
                self.get_logger().error(f"cannot {what}: {error}")
            return False
        return True
