"""How trainers ask, one module a protocol."""
