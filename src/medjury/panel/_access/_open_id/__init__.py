"""Signing in with the site's own account (OpenID Connect)."""
