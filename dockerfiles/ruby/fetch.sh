# Nothing: gems come from Debian packages, which the recipe names.
