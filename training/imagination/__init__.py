"""What the video model imagines, judged against what the expert would really do in the same scene, and filmed."""
