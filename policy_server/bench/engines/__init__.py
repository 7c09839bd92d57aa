"""Engines side by side: time per graph, achieved arithmetic and memory traffic, and their share of a measured peak."""
