"""The torch model: video backbone, latent and instruction encoders, action heads."""
