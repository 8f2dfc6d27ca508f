"""The HTTP service that trainers call: verdicts and rewards, each content evaluated once. Needs the extra ``serve``."""
