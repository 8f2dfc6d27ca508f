"""SWE-Fixer's way: find the files, then edit them, each by one question that is answered in JSON."""
