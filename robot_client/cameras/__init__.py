"""Cameras of a real station: one process each, newest frame in a mailbox, stamped when it was captured."""
