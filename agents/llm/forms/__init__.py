"""The interfaces in which the metering proxy answers, one module each; ``base`` says what a form is."""

from assay.agents.llm.forms.base import Form
from assay.agents.llm.forms.chat import Chat
from assay.agents.llm.forms.gemini import Gemini
from assay.agents.llm.forms.messages import Messages
from assay.agents.llm.forms.responses import Responses

FORMS: dict[str, Form] = {form.name: form for form in (Chat(), Messages(), Responses(), Gemini())}
"""All forms by name, as an adapter's ``speaks`` gives it."""
