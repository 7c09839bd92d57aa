"""An episode in the Rerun viewer: cameras, what the policy imagined, joints, TR and scales on one timeline."""
