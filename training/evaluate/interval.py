"""Rates with their uncertainty; the robot's trials use the same."""

from __future__ import annotations

from robot_client.trial.rate import Rate, wilson

__all__ = ["Rate", "wilson"]
