"""Makes the recipes that ship with the package (`src/medjury/recipes/`): one file each, truth planted."""
