"""From a divergence to a small test file that a person can run: passes with gold, fails with the other patch.

reproduce.py   what such a file looks like, and the files of calls
excerpt.py     what one test needs of its file;  amplified.py  the files of amplified tests
minimise.py    the smallest of them that still tells the two sides apart, found by running them
"""
