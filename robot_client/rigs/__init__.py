"""Rigs: what the loop drives. The Protocol is in `base`; one file per implementation."""
