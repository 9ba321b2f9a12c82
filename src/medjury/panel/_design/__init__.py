"""What is rated by whom: rounds and their items, the form that an instrument becomes, and who has which case."""
