"""Freed image memory stays with the process that asked for it."""

from __future__ import annotations

import resource
import subprocess
import sys

SCRIPT = """
import resource, sys
import numpy as np
from contract.heap import keep_freed_memory
if sys.argv[1] == "keep" and not keep_freed_memory():
    print("skip"); sys.exit()
def images():
    return [np.full((480, 640, 3), i, np.uint8) for i in range(3)]
for _ in range(5):
    images()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    images()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int | None:
    """Page faults of 20 rounds of three images; None where the C library cannot be told."""
    done = subprocess.run((sys.executable, "-c", SCRIPT, how), capture_output=True, text=True, timeout=100, check=True)
    return None if done.stdout.strip() == "skip" else int(done.stdout)


def test_images_are_allocated_without_page_faults_once_the_process_is_warm() -> None:
    kept = faults("keep")
    if kept is not None:
        assert kept < 20 * 3 * 480 * 640 * 3 / resource.getpagesize() / 20
