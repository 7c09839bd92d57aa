"""`yam-robot soak`: the robot side driving for a long time, and whether its memory stays flat."""
