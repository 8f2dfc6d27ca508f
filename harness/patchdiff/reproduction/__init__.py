"""From a divergence to a small test file that a person can run: passes with gold, fails with the other patch.

writing.py    the frame of such a file;  sources.py  a test file with one test left in it
calls.py, amplified.py, in_place.py   the files of each kind of probe
confirm.py    the fewest changes that show the difference, found and confirmed by running the files
"""
