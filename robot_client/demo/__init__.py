"""The main job made visible: all processes on the twin, a live view, a report and a film."""
