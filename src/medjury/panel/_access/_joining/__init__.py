"""Joining: invitations, and what becomes of them."""
