"""Estimates of token counts from text lengths, for endpoints that report no usage. Pure."""

import json
import math

from assay.agents.llm.chat import Request
from assay.agents.llm.openai_chat.requests import request_to_json

BYTES_PER_TOKEN = 4  # rough figure for English text and for code


def estimate_tokens(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


def estimate_prompt(request: Request) -> int:
    body = request_to_json(request)
    return estimate_tokens(json.dumps([body["messages"], body.get("tools")], ensure_ascii=False))
