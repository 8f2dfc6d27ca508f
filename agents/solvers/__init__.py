"""Native solvers, each after its paper; shared/ holds the tools that several use."""
