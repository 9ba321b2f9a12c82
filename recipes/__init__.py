"""Makes the recipes that ship with the package (`src/medjury/studies/recipes/`): one file each, truth planted."""
