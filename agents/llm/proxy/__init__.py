"""HTTP proxy on the host through which containers and external agents reach the model of a run.

``server`` listens and reads HTTP, ``handler`` authorises and answers one request, ``dialects`` translate the bodies of
one model API each.
"""
