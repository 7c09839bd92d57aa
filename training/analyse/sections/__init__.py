"""The parts of the results page, one file each."""
