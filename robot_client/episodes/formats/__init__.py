"""Episodes of all layouts as one stream of entries: our own, rosbag2, ABC-130k, LeRobot, the direct peer's folders."""
