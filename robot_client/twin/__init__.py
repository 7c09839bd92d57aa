"""Digital twin of the dual-arm YAM station: scene, tasks, judge, cameras, and the process that runs it in real time."""
