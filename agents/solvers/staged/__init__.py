"""Search over the stages of development: understand, locate, patch, verify."""
