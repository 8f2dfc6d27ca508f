"""Checkouts that solvers work in: in a container (``container``) or in a folder of this machine (``folder``)."""
