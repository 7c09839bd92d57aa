"""The ROS 2 side of the robot: nodes around the loop, the planner and the twin of `robot_client`."""
