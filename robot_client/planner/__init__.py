"""The planner process: newest images and the loop's question become an observation; the answer goes to the loop."""
