"""Three bundled instances as a competent programmer knows them: where the fault is, and a fix of one's own.

A Python, a Go and a Rust project. The fixes are not those of the releases; the tests of these decide about them.
"""

from dataclasses import dataclass

FENCE = "```"


@dataclass(frozen=True)
class Edit:
    """Whole lines of a file that stand there once, and what they become."""

    file: str
    element: str
    """Function or method that the lines are in, as its file names it."""
    owner: str
    """Class or type that it belongs to; empty for none."""
    search: str
    replace: str


@dataclass(frozen=True)
class Known:
    """What is known of an instance."""

    id: str
    language: str
    mark: str
    """Words of its statement that no other statement has."""
    edits: tuple[Edit, ...]
    words: tuple[str, ...]
    """What to search the code for."""
    reproduction: str = ""
    """A Python program that fails by an assertion while the fault is there; empty for other languages."""

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files to change, in order."""
        return tuple(dict.fromkeys(edit.file for edit in self.edits))


FLASK = Known(
    id="pallets__flask-2.3.2",
    language="python",
    mark="Set ``Vary: Cookie`` header when the session is accessed",
    words=("save_session", "vary"),
    reproduction="""\
import flask

app = flask.Flask("shop")
app.secret_key = "secret"


@app.get("/leave")
def leave():
    flask.session["name"] = "Ann"
    flask.session.clear()
    return "bye"


assert "Cookie" in app.test_client().get("/leave").vary
""",
    edits=(
        Edit(
            file="src/flask/sessions.py",
            element="save_session",
            owner="SecureCookieSessionInterface",
            search="        # If the session is modified to be empty, remove the cookie.",
            replace="""\
        # Whatever becomes of the session below, this answer depends on the cookie.
        if session.accessed or session.modified:
            response.vary.add("Cookie")

        # If the session is modified to be empty, remove the cookie.""",
        ),
        Edit(
            file="src/flask/sessions.py",
            element="save_session",
            owner="SecureCookieSessionInterface",
            search="        expires = self.get_expiration_time(app, session)",
            replace="""\
        response.vary.add("Cookie")
        expires = self.get_expiration_time(app, session)""",
        ),
    ),
)

GJSON = Known(
    id="tidwall__gjson-1.14.4",
    language="go",
    mark="A key with an escaped dot breaks the array selector",
    words=("parseObjectPath", "isDotPiperChar"),
    edits=(
        Edit(
            file="gjson.go",
            element="parseObjectPath",
            owner="",
            search="\t\t\t\t\t\t}\n\t\t\t\t\t\tr.more = true\n\t\t\t\t\t\treturn",
            replace="\t\t\t\t\t\t}\n\t\t\t\t\t\tr.more = !r.piped\n\t\t\t\t\t\treturn",
        ),
    ),
)

SLAB = Known(
    id="tokio-rs__slab-0.4.11",
    language="rust",
    mark="`get_disjoint_mut` looks at keys that were never inserted",
    words=("get_disjoint_mut", "entries_cap"),
    edits=(
        Edit(
            file="src/lib.rs",
            element="get_disjoint_mut",
            owner="Slab",
            search="        let entries_cap = self.entries.capacity();",
            replace="        let entries_cap = self.entries.len();",
        ),
    ),
)

KNOWN = (FLASK, GJSON, SLAB)
