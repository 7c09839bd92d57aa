"""What `yam-policy` does, one command a file; `policy_server.cli` only reads the command line."""
