"""The lowest image layer: an operating system with one version of a language."""
