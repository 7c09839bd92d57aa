"""`python -m policy_server` is `yam-policy`."""

from policy_server.cli import main

main()
