"""Prompts and answers of the SWE-Fixer solver (arXiv 2501.05040), all JSON. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from assay.agents.contract import AgentTask
from assay.agents.solvers.retrieval.numbering import number_lines
from assay.agents.solvers.shared.codebase import Codebase
from assay.harness.domain import Model

SYSTEM = "You are a careful programmer. You answer with one JSON object and nothing else."
FIND = (
    "Choose the files that have to be changed to solve the issue, as few as possible, from the candidates. Each "
    "candidate is listed with the functions and classes that it defines."
)
FIND_FORM = {"files for editing": ["path of a candidate"]}
EDIT = (
    "Solve the issue, for every input it is about, by changing the files. Every line of a file begins with its number "
    "and a bar. Quote each piece of code to change as whole lines with their numbers, and enough of them to be found; "
    "write what takes their place with the right indentation and without numbers. Change no tests."
)
EDIT_FORM = {
    "reasoning process": "what is wrong, and how to solve it",
    "edited code": [
        {
            "file": "path of the file",
            "code snippet to be modified": "lines as they are, with their numbers",
            "edited code snippet": "the lines that take their place, without numbers",
        }
    ],
}


class FileChoice(Model, extra="ignore"):
    """The retriever's answer."""

    files: tuple[str, ...] = Field(alias="files for editing", min_length=1)


class CodeEdit(Model, extra="ignore"):
    file: str
    original: str = Field(alias="code snippet to be modified")
    edited: str = Field(alias="edited code snippet")


class EditorAnswer(Model, extra="ignore"):
    reasoning: Any = Field(default="", alias="reasoning process")
    edits: tuple[CodeEdit, ...] = Field(alias="edited code", min_length=1)


def retriever_question(task: AgentTask, readme: str, code: Codebase, candidates: Sequence[str]) -> str:
    """Return the retriever's prompt; ``readme`` is the beginning of the README, the likeliest candidates come first."""
    outlines = {path: ", ".join(each.name for each in code.definitions(path)) for path in candidates}
    given = {"issue": task.problem_statement.strip(), "README": readme, "candidates": outlines, "task": FIND}
    return _question(given, FIND_FORM)


def editor_question(task: AgentTask, files: Mapping[str, str]) -> str:
    shown = [{"file": path, "file content": number_lines(text)} for path, text in files.items()]
    return _question({"issue": task.problem_statement.strip(), "files to be modified": shown, "task": EDIT}, EDIT_FORM)


def _question(given: Mapping[str, Any], form: Mapping[str, Any]) -> str:
    return json.dumps({"input": given, "output control": {"form of the answer": form}}, ensure_ascii=False, indent=1)
