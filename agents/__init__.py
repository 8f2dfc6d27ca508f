"""Turn an issue into a prediction; ``registry.AGENTS`` lists the solvers by name."""
