"""What is stated of a study before a score is seen, and what its judges have seen already."""
