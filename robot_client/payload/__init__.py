"""What a question costs by its size, and the same question through openpi's public client."""
