"""Camera, hand-eye, gripper, latency and Temporal Ratio calibration, and the station files."""
