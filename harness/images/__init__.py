"""The warehouse of images: registries, what is on an engine, who uses it, what is evicted, archives."""
