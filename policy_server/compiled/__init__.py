"""Engines compiled ahead of time: what is built, for what, where it is kept, and whether it may be served."""
