"""Many evaluations: runner, crew, store, report."""
