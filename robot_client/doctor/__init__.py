"""Read-only look at everything a run needs, before any torque: one line each, OK, WARN or FAIL, with what to do."""
