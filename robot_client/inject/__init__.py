"""Faults on request, for rehearsing: what the robot does when link, server, cameras or joints misbehave."""
