"""Tables of the catalogue as files for a spreadsheet or a program, and back: CSV and JSON, one row each, by id."""
