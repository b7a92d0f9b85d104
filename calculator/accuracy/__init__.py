"""How right the arithmetic is: measurements asked as questions, predictions held against what was observed. PURE."""
