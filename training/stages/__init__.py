"""The three stages: latent encoder, video flow matching, action head."""
