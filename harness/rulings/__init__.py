"""What the rules of benchmarks have in common: results under labels, doubts about evidence, judging by labels."""
