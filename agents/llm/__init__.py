"""Language models: one client for every OpenAI-compatible endpoint, and wrappers around whatever answers.

``chat`` holds the nouns and the one verb, ``complete(request) -> Answer``. ``client`` speaks to an endpoint;
``scripted`` plays one. The wrappers ``retry``, ``budget`` and ``cassette`` are models around a model, in any order;
``stack`` puts them together as a run wants them. ``proxy`` lets containers without a network, and agents of others, ask
such a model, in the interfaces of ``forms``.
"""
