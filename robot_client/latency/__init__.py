"""How long it takes from light to motor, stage by stage, on the robot host's one clock."""
