"""The lowest image layer: an operating system with a language version."""
