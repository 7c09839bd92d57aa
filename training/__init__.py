"""Expert, demonstrations, training, evaluation and reports."""
