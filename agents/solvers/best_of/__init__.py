"""The best of several samples, of this solver's own machines or of any other solver."""
