"""Model APIs that the proxy speaks, one module each; ``base.Dialect`` is the protocol."""

from assay.agents.llm.proxy.dialects.base import Dialect
from assay.agents.llm.proxy.dialects.chat import Chat
from assay.agents.llm.proxy.dialects.gemini import Gemini
from assay.agents.llm.proxy.dialects.messages import Messages
from assay.agents.llm.proxy.dialects.responses import Responses

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (Chat(), Messages(), Responses(), Gemini())}
"""Dialects by name, as in the field ``speaks`` of an external agent's adapter."""
