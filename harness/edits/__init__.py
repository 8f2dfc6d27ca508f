"""Search-and-replace edits in answers of models: read, placed in files, applied; and the answers of SWE-RL."""
