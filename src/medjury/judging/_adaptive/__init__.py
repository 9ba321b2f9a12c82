"""The adaptive jury: the rule by which it stops, and the rule's file."""
