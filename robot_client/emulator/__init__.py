"""Emulated DM motors, arms and CAN buses. i2rt's own driver runs on them unmodified; it ships, for tests and dry runs.

They answer the driver's MIT and parameter frames byte for byte, keep the motors' own timeout, sag under gravity, and
can be made to fail in the ways real ones have. Nothing here waits or runs by itself: an arm moves on to the time of
whoever looks at it.
"""
