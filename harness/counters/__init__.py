"""Counter-tests: expected tests with another expected value. A pass counts only if such a test fails."""
