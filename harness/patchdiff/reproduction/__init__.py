"""Test files for divergences: pass with gold, fail with the other patch, and can be run by hand.

writing.py    the frame of such a file;  sources.py  a test file with one test left in it
calls.py, amplified.py   the files of each kind of probe
confirm.py    what the files show, by running them on both sides, and whether it holds
"""
