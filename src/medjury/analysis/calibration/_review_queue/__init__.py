"""Which answers clinicians read: drawn by stated probabilities, so that a review may look where it hurts."""
