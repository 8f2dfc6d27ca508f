# Nothing: libraries come from Debian packages, which the recipe names.
