"""Probes that run in containers: standard library only, Python 3.6 and up, delivered as one zipapp.

amplify     observes what tests look at, in the tests as they are and in changed copies
record      records calls of the changed functions;  replay  makes them again
The rest is shared: wire (lines out, worker processes), running (test runners), trace (which target ran), texts (any
value as comparable text), mutate and scope and sites (changed and observed tests), values (other values of plain data).
"""
