"""Recipes: whole studies to start from, each a folder with recorded answers, so that it runs offline in seconds."""

from medjury.studies.recipes._write import Recipe, list_recipes, recipes_text, write_recipe

__all__ = ["Recipe", "list_recipes", "recipes_text", "write_recipe"]
