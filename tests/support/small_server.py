"""A small model server, as a program: has each instance changed by a command, and then submits.

``python small_server.py PORT [FOLDER]``: each question is a file in the folder, and its number of messages is in it.
"""

import json
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer({"object": "list", "data": [{"id": "m"}]})

    def do_POST(self) -> None:
        messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        if len(sys.argv) > 2:
            Path(sys.argv[2], uuid.uuid4().hex).write_text(str(len(messages)))
        begun = any(each["role"] == "assistant" for each in messages)
        content = f"So.\n```bash\n{'submit' if begun else 'sleep 1; echo x > fix.py'}\n```"
        message = {"role": "assistant", "content": content}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        self.answer({"id": "x", "model": "m", "usage": usage, "choices": [{"index": 0, "message": message}]})

    def answer(self, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    sys.stdout.write(f"small server on {sys.argv[1]}\n")
    sys.stdout.flush()
    ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
