"""GPU side: model, pipeline, engines, export and the ZeroMQ server."""
