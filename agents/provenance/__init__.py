"""The origin of the lines of a patch: texts of a trajectory in order, the source that each action reads, and verdicts.

A line is the model's if the model writes it before anything shows it. Words of a command say only which source a text
has that shows it first; no command alone is a leak.
"""
