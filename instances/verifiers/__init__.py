"""What a task's verifier downloads while it grades, and the answers that it gets without a network."""
