"""ZeroMQ ROUTER server around one policy: one socket thread, one inference thread, no shared guesses."""
