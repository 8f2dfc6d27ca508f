"""A repository's content: mirrors, commits, release archives."""
