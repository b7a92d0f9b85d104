"""Answers for other programs: JSON of the API, rows of the CSV, text of the terminal."""
