# Nothing: PHP packages come from Debian, which the recipe names.
