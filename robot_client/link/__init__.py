"""The link to the policy server: a DEALER client that reconnects by itself and never waits without a deadline."""
