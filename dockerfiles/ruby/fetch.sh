# Nothing to fetch: the recipe names Debian packages.
