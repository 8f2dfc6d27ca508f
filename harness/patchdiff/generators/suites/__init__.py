"""The developers' own suite: every test file that gold passes, not only the files of the change.

generate.py goes through the files with the patch;  repeating.py finds the files of what fails and repeats them on both
sides;  running.py one run of some files
"""
