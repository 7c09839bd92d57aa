"""From a Cosmos-Predict2.5 pipeline folder in diffusers' layout to a checkpoint of ours."""
