"""Closed-loop evaluation of a bundle in the twin."""
