"""From a checkpoint to the graphs and manifest of a bundle."""
