"""Run by a Python that has datasets, openai and transformers: read files of chats, and print them as JSON."""

import json
import sys

from datasets import load_dataset
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter
from transformers.utils.chat_template_utils import render_jinja_template

TEMPLATE = "{% for each in messages %}<|{{ each.role }}|>{{ each.content }}\n{% endfor %}"
MESSAGES = TypeAdapter(list[ChatCompletionMessageParam])


def read(file: str) -> dict[str, object]:
    rows = load_dataset("json", data_files=file, split="train").to_list()
    chats = [row.get("messages") or row["prompt"] + row["completion"] for row in rows]
    filled = [[{key: value for key, value in each.items() if value is not None} for each in chat] for chat in chats]
    for chat in filled:
        MESSAGES.validate_python(chat)
    texts, _ = render_jinja_template(conversations=filled, chat_template=TEMPLATE)
    return {"rows": rows, "texts": texts}


if __name__ == "__main__":
    sys.stdout.write(json.dumps({file: read(file) for file in sys.argv[1:]}))
