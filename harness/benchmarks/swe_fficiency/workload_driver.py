"""Runs a workload once in a process of its own: delivered to a container, and started there.

It writes a mark before and after the timed calls, and hashes of what one of them computed. It runs in any Python from
3.6 on and imports nothing of Assay. The patch's code runs in the same process: what it writes is checked by others.

Arguments: the pipe, and for each workload its file, its function, its set-up or "", the number of calls.
"""

import gc
import hashlib
import json
import os
import random
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

TIMED, DONE, RESULTS = "timed", "done", "results"
DEPTH, ITEMS, NAMES = 5, 10_000, 100
"""The most levels of a value, items of each part, and values that are hashed."""
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


def main() -> None:
    out = os.open(sys.argv[1], os.O_WRONLY)
    found: dict[str, str] = {}
    for first in range(2, len(sys.argv), 4):
        prefix = "" if len(sys.argv) == 6 else f"program {(first - 2) // 4} "
        computed = run_program(out, *sys.argv[first : first + 4])
        found.update((prefix + name, value) for name, value in computed.items())
    os.write(out, f"{RESULTS} {json.dumps(found, sort_keys=True)}\n".encode())


def run_program(out: int, file: str, function: str, setup: str, number: str) -> Any:
    """Time the calls of one program, and return the hashes of what one of them computed."""
    names: dict[str, Any] = {"__name__": "__main__", "__file__": file}
    exec(compile(Path(file).read_text(), file, "exec"), names)
    if setup:
        names[setup]()
    run, kept = names[function], None
    calls, chosen = int(number), random.SystemRandom().randrange(int(number))
    gc.disable()
    os.write(out, f"{TIMED}\n".encode())
    for call in range(calls):
        result = run()
        if call == chosen:
            kept = result
    os.write(out, f"{DONE}\n".encode())
    gc.enable()
    return results(kept, names)


def results(returned: Any, names: Any) -> Any:
    """Return the hash of each value of a call: what it returned, its local variables, and the program's own."""
    values = {f"global {name}": value for name, value in names.items() if is_value(name, value)}
    if isinstance(returned, tuple):
        values.update((f"local {name}", value) for name, value in returned[1].items() if is_value(name, value))
        values["returned"] = returned[0]
    shown = {name: canonical(value, DEPTH) for name, value in sorted(values.items())[:NAMES]}
    return {name: hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16] for name, text in shown.items()}


def is_value(name: str, value: Any) -> bool:
    return not name.startswith("__") and not callable(value) and not isinstance(value, ModuleType)


def canonical(value: Any, depth: int) -> str:
    """Return a text that is the same for equal values of another run; floats have six digits."""
    if isinstance(value, float):
        return f"{value:.6g}"
    try:
        return f"{type(value).__name__}({_content(value, depth)})"
    except Exception as error:  # whatever a foreign type does
        return type(error).__name__


def _content(value: Any, depth: int) -> str:
    if depth == 0:
        return "..."
    if isinstance(value, dict):
        items = sorted(f"{canonical(key, depth - 1)}: {canonical(value[key], depth - 1)}" for key in [*value][:ITEMS])
        return ", ".join(items)
    if isinstance(value, (list, tuple)):
        return ", ".join(canonical(each, depth - 1) for each in value[:ITEMS])
    if isinstance(value, (set, frozenset)):
        return ", ".join(sorted(canonical(each, depth - 1) for each in value))
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if hasattr(value, "dtype") and hasattr(value, "tobytes"):
        return _array(value, depth)
    return ADDRESS.sub("", repr(value))[:1_000_000]


def _array(value: Any, depth: int) -> str:
    """Return the content of an array of NumPy's kind; floats in single precision."""
    kind = value.dtype.kind
    if kind == "O":
        return canonical(value.tolist(), depth - 1)
    plain = value.astype({"f": "f4", "c": "c8"}[kind]) if kind in "fc" else value
    return f"{kind} {getattr(value, 'shape', ())} {hashlib.sha256(plain.tobytes()).hexdigest()}"


if __name__ == "__main__":
    main()
