"""Self-preference: does a judge like its own vendor's answers better? The model, the contrast and the placebo."""
