"""One process per arm: sole owner of its CAN bus, its torque and its HOLD. It outlives every client."""
