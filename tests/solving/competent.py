"""A scripted model that answers like a competent programmer who knows three bundled instances.

It has nothing but the request: it recognises the instance by words of its statement (or by the names of the code that
is to be changed, in questions without a statement) and the question by words of the prompt. A question that it does not
know is refused, so that no test passes by accident.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.agents.llm.chat import Message, Request, Speaker
from assay.agents.llm.errors import RequestRefused
from solving.known import KNOWN, Edit, Known


@dataclass(frozen=True)
class Question:
    """A request as a person reads it."""

    known: Known
    last: str
    """The last message."""
    opening: str
    """What is said before the model's first answer."""
    turn: int
    """How often the model has answered in this conversation."""


Answering = Callable[[Question], str]


def answer(request: Request) -> str:
    """Return the answer of a competent model; raises RequestRefused for a question that nobody prepared it for."""
    texts = [_text(message) for message in request.messages]
    answered = [at for at, message in enumerate(request.messages) if message.role is Speaker.ASSISTANT]
    opening = "\n".join(texts[: answered[0]] if answered else texts)
    question = Question(recognise("\n".join(texts)), texts[-1], opening, len(answered))
    for place in (question.last, question.opening):
        for words, answering in ANSWERS.items():
            if words in place:
                return answering(question)
    raise RequestRefused(f"nobody prepared an answer to: {question.last[:2000]}")


def _text(message: Message) -> str:
    return message.content if isinstance(message.content, str) else ""


def recognise(text: str) -> Known:
    """Return the instance that a text is about."""
    for words in (lambda known: [known.mark], lambda known: [edit.element for edit in known.edits]):
        found = [known for known in KNOWN if any(word in text for word in words(known))]
        if len(found) == 1:
            return found[0]
    raise RequestRefused(f"it is not clear which instance this is about: {text[:2000]}")


# bash_loop


def act_in_shell(question: Question) -> str:
    known = question.known
    commands = [
        f"grep -n '{known.words[0]}' {known.files[0]}",
        "\n".join(replacing(edit) for edit in known.edits),
        "git diff --stat",
        "submit",
    ]
    return f"I go on.\n```bash\n{commands[question.turn]}\n```"


def replacing(edit: Edit) -> str:
    """Return a shell command that makes an edit, and fails if the lines are not there once."""
    return (
        f"SEARCH=$(cat <<'EOF'\n{edit.search}\nEOF\n) REPLACE=$(cat <<'EOF'\n{edit.replace}\nEOF\n)"
        f" perl -0777 -pi -e 's/\\Q$ENV{{SEARCH}}\\E/$ENV{{REPLACE}}/ == 1 or die' {edit.file}"
    )


# agentless


def name_files(question: Question) -> str:
    return fenced("\n".join(question.known.files))


def rule_out(question: Question) -> str:
    return fenced("docs/")


def name_elements(question: Question) -> str:
    places = dict.fromkeys(
        (edit.file, ".".join(filter(None, [edit.owner, edit.element]))) for edit in question.known.edits
    )
    return fenced("\n".join(f"{file}\nfunction: {element}" for file, element in places))


def repair(question: Question) -> str:
    return f"I change what is wrong.\n{fenced(search_replace(question.known.edits))}"


def repair_in_thought(question: Question) -> str:
    """Think of another change first, which is not the answer."""
    draft = "### setup.py\n<<<<<<< SEARCH\n=======\nx = 1\n>>>>>>> REPLACE"
    return f"<think>\nPerhaps:\n{draft}\n</think>\n<solution>\n{repair(question)}\n</solution>"


def no_tests(question: Question) -> str:
    return fenced("")


def reproduction_that_tells(question: Question) -> str:
    script = question.known.reproduction.replace("assert ", "fixed = ")
    return f"```python\n{script}print('Issue resolved' if fixed else 'Issue reproduced')\n```"


def fenced(text: str) -> str:
    return f"```\n{text}\n```"


# ast_search


def ask_for_code(question: Question) -> str:
    calls = (f"search_method('{edit.element}')" for edit in question.known.edits)
    return f"I want to see the methods that the issue is about: {', '.join(dict.fromkeys(calls))}."


def name_places(question: Question) -> str:
    names = (f"{edit.element} of {edit.file}" for edit in question.known.edits)
    return f"The places to change are {', '.join(dict.fromkeys(names))}."


def as_json(question: Question) -> str:
    """Turn one of the two notes above into JSON."""
    note = question.last.rpartition("<note>")[2]
    named = [edit for edit in question.known.edits if edit.element in note]
    calls = [f"search_method('{edit.element}')" for edit in named] if "search_method" in note else []
    places = [{"file": edit.file, "class": edit.owner, "method": edit.element} for edit in named]
    return json.dumps({"API_calls": list(dict.fromkeys(calls)), "bug_locations": [] if calls else places})


def tagged(question: Question) -> str:
    return "\n".join(
        f"<file>{edit.file}</file>\n<original>\n{edit.search}\n</original>\n<patched>\n{edit.replace}\n</patched>"
        for edit in question.known.edits
    )


def reproduction(question: Question) -> str:
    return f"```python\n{question.known.reproduction}```"


# retrieval


def choose_files(question: Question) -> str:
    return json.dumps({"files for editing": question.known.files})


def edit_numbered_lines(question: Question) -> str:
    """Quote the lines with the numbers that they have in the question."""
    shown = {each["file"]: each["file content"] for each in json.loads(question.last)["input"]["files to be modified"]}
    edits = [
        {
            "file": edit.file,
            "code snippet to be modified": quoted(edit, shown[edit.file].split("\n")),
            "edited code snippet": edit.replace,
        }
        for edit in question.known.edits
    ]
    return json.dumps({"reasoning process": "I know it.", "edited code": edits})


def quoted(edit: Edit, numbered: Sequence[str]) -> str:
    wanted = edit.search.split("\n")
    bare = [line.partition("|")[2] for line in numbered]
    starts = [at for at in range(len(bare)) if bare[at : at + len(wanted)] == wanted]
    return "\n".join(numbered[starts[0] : starts[0] + len(wanted)])


# best_of


def order_files(question: Question) -> str:
    return "\n".join(question.known.files)


def say_it_matters(question: Question) -> str:
    shown = question.last.partition("A file of the repository, ")[2]
    return f"<relevant>{'yes' if shown.startswith(tuple(question.known.files)) else 'no'}</relevant>"


def write_test(question: Question) -> str:
    if question.turn:
        return "It fails for the right reason. <done/>"
    script = question.known.reproduction.replace("assert ", "fixed = ")
    return f"I test it.\n<test>\n{script}raise SystemExit(0 if fixed else 2)\n</test>"


def edit_until_done(question: Question) -> str:
    return "Both are right. <done/>" if question.turn else search_replace(question.known.edits)


def choose_candidate(question: Question) -> str:
    return "Each is right. <chosen_candidate_fix_id>0</chosen_candidate_fix_id>"


# tree_search and graph_search


def act_in_tree(question: Question) -> str:
    edits = question.known.edits
    actions = [
        f"<search>search_method('{edits[0].element}')</search>",
        f"<edit>\n{search_replace(edits)}\n</edit>",
        "<finish>It does what the issue asks for.</finish>",
    ]
    return f"I go on.\n{actions[question.turn]}"


def search_replace(edits: Sequence[Edit]) -> str:
    return "\n".join(
        f"### {edit.file}\n<<<<<<< SEARCH\n{edit.search}\n=======\n{edit.replace}\n>>>>>>> REPLACE" for edit in edits
    )


def judge(question: Question) -> str:
    return "The step is right.\n<value>75</value>"


def other_ways(question: Question) -> str:
    return "The tries so far look at the right code; go on from there."


def relevance(question: Question) -> str:
    shown = question.last.rpartition("It was reached so:")[2]
    known = question.known
    is_relevant = any(file in shown for file in known.files) or any(edit.element in shown for edit in known.edits)
    return f"I know this code. <value>{90 if is_relevant else 5}</value>"


def plan(question: Question) -> str:
    return "I know the cause, and change that alone."


def debate(question: Question) -> str:
    return "All of them are right. <solution>0</solution>"


def edit_once(question: Question) -> str:
    if question.turn:
        return "<finish>It does what the issue asks for.</finish>"
    return f"I change it.\n<edit>\n{search_replace(question.known.edits)}\n</edit>"


# staged


def name_by_path(question: Question) -> str:
    return f"I know it.\n{fenced(chr(10).join(question.known.files))}"


def write_edits(question: Question) -> str:
    return search_replace(question.known.edits)


ANSWERS: dict[str, Answering] = {
    "by running shell commands, one at a time": act_in_shell,
    "Which files must be edited to resolve the issue?": name_files,
    "surely nothing to do with the issue?": rule_out,
    "Which classes, functions and variables must be looked at": name_elements,
    "Which places must be edited to resolve the issue?": name_elements,
    "Then give the edits that resolve the issue": repair,
    "put them into the solution": repair_in_thought,
    "Which tests should therefore not be run": no_tests,
    "Answer with the whole Python script": reproduction_that_tells,
    "Search the code for what the issue is about": ask_for_code,
    "Think about what you have seen": name_places,
    "Turn a programmer's note into JSON": as_json,
    "Now write the change that solves the issue": tagged,
    "Write a Python program that shows whether the issue is there": reproduction,
    "Choose the files that have to be changed to solve the issue": choose_files,
    "Every line of a file begins with its number": edit_numbered_lines,
    "Does this file have to be read or changed": say_it_matters,
    "Name the files that have to be read or changed": order_files,
    "Write a test script that shows the fault": write_test,
    "Write all changes, each time anew against the": edit_until_done,
    "candidates are to solve the issue; choose one": choose_candidate,
    "You solve an issue in a repository, one action at a time": act_in_tree,
    "You judge one step of a programmer": judge,
    "Judge the\nlast stage": judge,
    "Which parts of the repository does the issue touch": name_by_path,
    "Where is the fault?": name_by_path,
    "Write the change. Give": write_edits,
    "Several programmers try to solve the issue": other_ways,
    "Somebody solves the issue below and explores": relevance,
    "Write no code yet.": plan,
    "You are shown the parts of its code that matter most": edit_once,
    "You are debater": debate,
    "You are the judge. Weigh": debate,
}
"""Words of a prompt and what is answered to it."""
