"""A scripted expert for the twin: shows that every task can be done, and how."""
