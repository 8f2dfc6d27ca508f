"""One patch, one container -> evidence."""
