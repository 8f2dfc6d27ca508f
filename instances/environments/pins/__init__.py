"""Dependencies as of a date: one module per package ecosystem, each of which writes a lock."""
