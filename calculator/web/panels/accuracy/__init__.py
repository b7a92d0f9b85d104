"""The record of accuracy as a page: one presenter for each of its parts."""
