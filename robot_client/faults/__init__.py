"""`yam-robot faults`: every fault of server, client and link, many times over, on real processes and the ideal rig."""
