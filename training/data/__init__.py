"""Demonstrations: making them, keeping them in shards, reading samples back."""
