"""JSON of the OpenAI chat completions API (``/v1/chat/completions``), written and read.

The client posts ``requests`` and reads ``replies``; the proxy does the reverse. Both carry ``messages``.
"""
