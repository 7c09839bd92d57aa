"""A baseline without any video: behaviour cloning from pixels, with keypoints."""
