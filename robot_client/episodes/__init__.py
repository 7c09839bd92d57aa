"""What happened on a robot, in files: recorded, read, repaired and replayed. See docs/episodes.md."""
