"""Blinded, randomised comparisons of guidance methods on the robot or the twin."""
