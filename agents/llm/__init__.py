"""Language models: a client for OpenAI-compatible endpoints, and wrappers that add a budget, retries and a recording.

``chat`` holds the data types and the protocol ``ChatModel``, whose one method is ``complete(request) -> Answer``.
``client`` asks an endpoint, by a ``call_loop`` that a waiting thread can be released from; ``probe`` asks whether it is
there; ``scripted`` plays one; ``named`` are models as a person names them; ``draws`` asks for many answers. ``retry``,
``budget`` and ``cassette`` are models around a model, ``stack`` puts them together for a run. ``proxy`` serves such a
model over HTTP to containers without a network and to external agents.
"""
