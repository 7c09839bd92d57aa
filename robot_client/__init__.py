"""The robot side without ROS: loop, chunk buffer, safety, modes, rigs, cameras, twin."""
