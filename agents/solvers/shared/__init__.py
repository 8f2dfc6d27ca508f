"""What several solvers share, pure wherever it can be: grammars, searches, formulas and votes."""
