"""Programs delivered as text into a workspace and run there: standard library only, Python 3.6 and up."""
