"""Passkeys: a device proves that it holds a key."""
