"""Tests that a language model writes, after the protocol of PatchDiff (arXiv 2503.15223).

generate.py is the generator: it runs what the model writes. What is said is pure: protocol.py the conversation,
prompts.py the questions.
"""
