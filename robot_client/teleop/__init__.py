"""A person's hand as a source of targets: leaders, how they read, how they take over."""
