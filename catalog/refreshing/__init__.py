"""Prices from outside: lists of clouds' offers and of hosted APIs, put into the catalogue without undoing anybody's edit."""
