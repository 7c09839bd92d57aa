"""The video and flow loops of a replan as whole pieces of work on fixed tensors, which a card runs as CUDA graphs."""
