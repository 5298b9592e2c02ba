#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients that are generated from /openapi.json, each operation called with them (`make test-serve`)."""

import enum
import importlib
import inspect
import io
import json
import os
import subprocess
import sys
import unittest

from server import PASSPORT, SUICA, environment
from test_serve import Case

TAG = os.path.join(os.path.dirname(SUICA), "..", "..", "tags", "ntag213.json")
LICENSE = os.path.join(os.path.dirname(SUICA), "..", "..", "iso7816", "license", "sample.json")
MYNUMBER = os.path.join(os.path.dirname(SUICA), "..", "..", "iso7816", "mynumber", "card.json")
RESIDENCE = os.path.join(os.path.dirname(SUICA), "..", "..", "iso7816", "residence", "second.json")
CLASSIC = os.path.join(os.path.dirname(SUICA), "..", "..", "virtual", "classic-1k.json")
DESFIRE = os.path.join(os.path.dirname(SUICA), "..", "..", "virtual", "desfire.json")
SIGNED = os.path.join(os.path.dirname(SUICA), "..", "..", "virtual", "ntag213-signed.json")
# The stream has no end, and the WebSocket's handshake is not HTTP.
ENDLESS = {"taps.stream", "rpc.connect"}
# What each operation is called with; `body` is what the request has as its body.
ARGUMENTS = {
    "card.read": {"service": ["090F"]},
    "card.write": {"body": {"service": "39C9", "block": 0, "hex": ["00" * 16], "system": "FE00", "dryRun": True,
                            "confirm": "1101031234567890"}},
    "card.apdu": {"body": {"commands": ["00A40000"], "reader": "license"}},
    "card.felica": {"body": {"commands": ["0600FFFF0100"]}},
    "card.license": {"reader": "license"},
    "card.mynumber": {"reader": "mynumber"},
    "tag.info": {"reader": "tag"},
    "tag.read": {"reader": "tag"},
    "tag.pages": {"reader": "tag"},
    "tag.write": {"body": {"reader": "tag", "text": ["x"]}},
    "tag.verify": {"reader": "signed"},
    "card.residence": {"reader": "residence"},
    "classic.info": {"reader": "classic"},
    "desfire.info": {"reader": "desfire"},
    "desfire.read": {"reader": "desfire", "file": "F5A1C0:1"},
    "desfire.write": {"body": {"reader": "desfire", "file": "F5A1C0:6", "hex": "CAFE", "confirm": "04de5f1ea5c0de"}},
    "desfire.value": {"body": {"reader": "desfire", "file": "F5A1C0:7", "credit": 5, "confirm": "04de5f1ea5c0de"}},
    "classic.message": {"reader": "classic"},
    "stations.lookup": {"queries": ["0-3-13"]},
    "convert": {"to": "hex"},
    "reader.feedback": {"body": {"pattern": "yes"}},
}
# A virtual reader has no lights: the reason of the refusal.
REFUSED = {"reader.feedback": "noFeedback"}


class GeneratedClients(Case):
    def setUp(self):
        super().setUp()
        readers = ["door=virtual:" + SUICA, "tag=virtual:" + TAG, "license=virtual:" + LICENSE, "mynumber=virtual:" + MYNUMBER,
                   "residence=virtual:" + RESIDENCE, "classic=virtual:" + CLASSIC, "desfire=virtual:" + DESFIRE,
                   "signed=virtual:" + SIGNED]
        options = [word for reader in readers[1:] for word in ("-r", reader)]
        self.server = self.serve(
            "--allow", "raw", "--allow", "write", "--allow", "feedback", "--allow", "ledger,ids", "--ledger", self.folder + "/l.sqlite", "--keep",
            *options, reader=readers[0]).ready()
        self.url = f"http://127.0.0.1:{self.server.port}"
        self.document = self.server.get("/openapi.json").json
        self.path = os.path.join(self.folder, "openapi.json")
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.document, file)
        with open(SUICA, encoding="utf-8") as file:
            self.card = file.read()
        self.dump = self.server.get("/v1/dump").data
        with open(PASSPORT, "rb") as file:
            self.passport = file.read()

    def operations(self):
        for path, item in self.document["paths"].items():
            for verb, operation in item.items():
                if operation["operationId"] not in ENDLESS:
                    yield path, verb, operation

    def run_tool(self, *words):
        program = os.path.join(os.path.dirname(sys.executable), words[0])
        done = subprocess.run(
            [program, *words[1:]], capture_output=True, text=True, cwd=self.folder,
            # It looks for ruff beside it.
            env={**environment(), "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def arguments(self, name, uid):
        found = json.loads(json.dumps(ARGUMENTS.get(name, {})))
        if name == "tag.write":
            found["body"]["confirm"] = uid
        return found

    def test_openapi_python_client(self):
        said = self.run_tool("openapi-python-client", "generate", "--path", self.path, "--output-path", "made", "--meta", "none")
        # What it cannot read, it leaves out with a warning, and the answer is then None. Other types than JSON and text are
        # none of its own.
        left_out = [line for line in said.splitlines() if "Could not find reference" in line or "Cannot parse" in line]
        self.assertEqual(left_out, [], said)
        sys.path.insert(0, self.folder)
        self.addCleanup(sys.path.remove, self.folder)
        for name in [name for name in sys.modules if name.partition(".")[0] == "made"]:
            del sys.modules[name]
        made = importlib.import_module("made")
        client = made.Client(base_url=self.url)
        uid = None
        for path, verb, operation in self.operations():
            name = operation["operationId"]
            with self.subTest(operation=name):
                module = importlib.import_module("made.api.default." + name.replace(".", "_"))
                takes = inspect.signature(module.sync_detailed).parameters
                given = self.arguments(name, uid)
                for argument, value in given.items():
                    kinds = getattr(takes[argument].annotation, "__args__", (takes[argument].annotation,))
                    named = [kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, enum.Enum)]
                    if named and isinstance(value, str):
                        given[argument] = named[0](value)
                if "body" in given:
                    kind = inspect.signature(module.sync_detailed).parameters["body"].annotation
                    kind = next(one for one in (kind.__args__ if hasattr(kind, "__args__") else (kind,)) if hasattr(one, "from_dict"))
                    given["body"] = kind.from_dict(given["body"])
                elif "body" in takes:
                    sent = self.passport if name == "passport.files" else self.dump
                    given["body"] = made.types.File(payload=io.BytesIO(sent))
                response = module.sync_detailed(client=client, **given)
                if name in REFUSED:
                    self.assertEqual(json.loads(response.content)["reason"], REFUSED[name])
                    continue
                self.assertEqual(response.status_code, 204 if name == "session.begin" else 200, response.content[:500])
                content = operation["responses"]["200" if name != "session.begin" else "204"].get("content", {})
                if "application/json" not in content:
                    continue
                self.assertIsNotNone(response.parsed, name)
                if name == "openapi.get":
                    continue
                # Nothing of the document is lost, and it is that document and no other.
                self.assertEqual(response.parsed.to_dict(), json.loads(response.content))
                schema = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
                self.assertEqual(type(response.parsed).__name__.lower(), schema.lower())
                if name == "tag.info":
                    uid = response.parsed.card.uid

    def test_datamodel_code_generator(self):
        self.run_tool(
            "datamodel-codegen", "--input", self.path, "--input-file-type", "openapi", "--output", "models.py",
            "--output-model-type", "pydantic_v2.BaseModel")
        with open(os.path.join(self.folder, "models.py"), encoding="utf-8") as file:
            text = file.read()
        names = {line.split()[1].partition("(")[0] for line in text.splitlines() if line.startswith("class ")}
        self.assertLessEqual({"BalanceReport", "Balance", "HistoryReport", "HistoryRecord", "Place", "TapEvent", "ReaderList"}, names)
        sys.path.insert(0, self.folder)
        self.addCleanup(sys.path.remove, self.folder)
        sys.modules.pop("models", None)
        models = importlib.import_module("models")
        for path, verb, operation in self.operations():
            content = operation["responses"].get("200", {}).get("content", {})
            reference = content.get("application/json", {}).get("schema", {}).get("$ref")
            if reference is None or verb == "post":
                continue
            name = operation["operationId"]
            query = "&".join(
                f"{key}={','.join(value) if isinstance(value, list) else value}" for key, value in self.arguments(name, None).items())
            with self.subTest(operation=name):
                answer = self.server.get(path + ("?" + query if query else ""))
                self.assertEqual(answer.status, 200, answer.data)
                model = getattr(models, reference.rpartition("/")[2])
                read = model.model_validate(answer.json)
                self.assertEqual(json.loads(read.model_dump_json(by_alias=True, exclude_unset=True)), answer.json)


if __name__ == "__main__":
    unittest.main(verbosity=2)
