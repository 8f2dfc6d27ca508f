"""Trees at a base commit that solvers work in: a container's (``box``) and a folder's on this machine (``folder``)."""
