"""Where told begins: where the arms are held, where they are measured, or where they were told to be."""

from __future__ import annotations

import numpy as np

from contract.layout import Arm
from robot_client.rigs.base import JointReading
from robot_client.safety.limits import Told, seeded
from robot_client.sources.base import Moment
from robot_client.teleop.align import mask_of


def seed(reading: JointReading) -> Told:
    """Told at rest where the arms are held, or where they are measured when nobody holds them."""
    return seeded(reading.positions if reading.held is None else reading.held)


def taken_up(moment: Moment, held: tuple[Arm, ...]) -> Told:
    """Arms that were held stand where they are held; another one goes on from what it was told last, and can brake."""
    mask, stands, told = mask_of(held), seed(moment.reading), moment.told.after_skipping(1)
    return Told(
        np.where(mask, stands.position, told.position),
        np.where(mask, 0.0, told.velocity),
        np.where(mask, stands.asked, told.asked),
        np.where(mask, 0.0, told.acceleration),
    )
