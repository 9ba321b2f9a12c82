"""How numbers and tables of them are printed."""
