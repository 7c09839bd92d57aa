"""Benchmarks of the server side."""
