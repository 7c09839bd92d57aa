"""Acceptance of an engine: the same questions to it and to the fp32 reference, the answers compared."""
