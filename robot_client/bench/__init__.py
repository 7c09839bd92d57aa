"""Benchmarks of the robot side."""
