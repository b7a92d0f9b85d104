"""Searches over systems, plans and counts by calling the arithmetic. PURE (takes a Snapshot)."""
