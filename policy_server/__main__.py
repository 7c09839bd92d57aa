"""`python -m policy_server` is `yam-policy`."""

from policy_server.entry import main

main()
