"""Command-line agents of other projects as solvers: adapters, installation, the run itself, importers of records."""
