"""What an arm may be told: vetoes first, then one interval per channel, then braking. Pure."""
