"""What runs the graphs of a bundle: one small Protocol, several libraries."""
