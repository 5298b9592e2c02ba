# SPDX-License-Identifier: Apache-2.0
"""check.py SCHEMAS [FILE]: checks JSON that the program printed against Docs/schemas, with jsonschema from PyPI.

Each line of FILE or of standard input is a run: {"arguments": [...], "output": "...", "errors": "..."}. Prints `ready`, then `ok` or
what is wrong for each run.
"""
import json
import pathlib
import sys

from jsonschema import Draft202012Validator
from referencing import Registry, Resource


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError(f"a key is given twice: {keys}")
    return dict(pairs)


folder = pathlib.Path(sys.argv[1])
files = {path.name: json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")}
registry = Registry().with_resources((name, Resource.from_contents(file)) for name, file in files.items())
validators = {}
for name, file in files.items():
    Draft202012Validator.check_schema(file)
    if name != "common.json":
        validators[file["properties"]["schema"]["const"]] = Draft202012Validator(file, registry=registry)


def deepest(error):
    return max(error.context, key=lambda inner: len(inner.absolute_path)) if error.context else error


def documents(text):
    """The documents of an output: one, or one a line; None when a document is broken."""
    try:
        return [json.loads(text, object_pairs_hook=unique)]
    except json.JSONDecodeError:
        pass
    try:
        return [json.loads(line, object_pairs_hook=unique) for line in text.splitlines() if line[:1] == "{"]
    except json.JSONDecodeError:
        return None


def problem(text, strict):
    if not text.lstrip().startswith("{"):
        return None
    found = documents(text)
    if found is None:
        return "not JSON" if strict else None
    for document in found:
        schema = document.get("schema")
        if schema in validators:
            error = next(iter(sorted(validators[schema].iter_errors(document), key=str)), None)
            if error:
                return f"{schema} {error.json_path}: {error.message[:300]} / {deepest(error).message[:200]}"
        elif strict:
            return f"no schema for {schema}"
    return None


print("ready", flush=True)
# Opening a FIFO waits for its writer, who waits for "ready".
for line in open(sys.argv[2], encoding="utf-8") if len(sys.argv) > 2 else sys.stdin:
    run = json.loads(line)
    strict = "--json" in run["arguments"]
    try:
        found = problem(run["output"], strict) or problem(run["errors"], strict)
    except Exception as error:
        found = repr(error)
    print(" ".join(found.split()) if found else "ok", flush=True)
