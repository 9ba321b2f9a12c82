"""The study file as it is written: every setting, its default and its limits. Words only; nothing is opened."""
