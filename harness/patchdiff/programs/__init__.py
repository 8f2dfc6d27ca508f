"""Programs delivered as text into a container and run there: standard library only, Python 3.6 and up."""
