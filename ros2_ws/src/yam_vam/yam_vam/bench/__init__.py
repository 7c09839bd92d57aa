"""What ROS adds to the line, measured: `python -m yam_vam.bench`."""
