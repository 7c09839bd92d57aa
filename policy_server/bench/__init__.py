"""Measurements that people can repeat."""
