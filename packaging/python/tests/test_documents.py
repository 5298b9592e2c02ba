# SPDX-License-Identifier: Apache-2.0
"""Every JSON answer of the fixtures becomes a data class that has all that the answer had."""

import dataclasses
import json
import pathlib
import unittest

import kazasu

HERE = pathlib.Path(__file__).resolve().parent.parent
ANSWERS = HERE.parent.parent / "Fixtures"


def documents():
    """The JSON documents of the fixtures, one or several a file."""
    for path in sorted(ANSWERS.rglob("*.json")):
        text = path.read_text(encoding="utf-8")
        if '"schema": "kazasu.' not in text and '"schema":"kazasu.' not in text:
            continue
        try:
            values = [json.loads(text)]
        except json.JSONDecodeError:
            values = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        for value in values:
            if isinstance(value, dict) and str(value.get("schema", "")).startswith("kazasu."):
                yield path, value


def plain(value):
    """A data class as the members that it has read."""
    if dataclasses.is_dataclass(value):
        members = (field.name for field in dataclasses.fields(value) if field.name != "json")
        return {name: plain(getattr(value, name)) for name in members if getattr(value, name) is not None}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def leaves(value):
    """How many values that are not null a document has."""
    if isinstance(value, dict):
        return sum(leaves(item) for item in value.values())
    if isinstance(value, list):
        return sum(leaves(item) for item in value)
    return value is not None


class DocumentTests(unittest.TestCase):
    def test_every_answer_is_read_whole(self):
        """No value of a document is lost, unless the schema allows members that it does not name."""
        seen = set()
        for path, value in documents():
            if value["schema"] not in kazasu.DOCUMENTS:
                continue
            with self.subTest(path=path.name):
                report = kazasu.DOCUMENTS[value["schema"]].from_json(value)
                seen.add(value["schema"])
                if value["schema"] == "kazasu.dump/1":  # keeps members of other programs
                    self.assertGreater(leaves(plain(report)), 10)
                else:
                    self.assertEqual(leaves(plain(report)), leaves(value))
        self.assertGreater(len(seen), 10, seen)

    def test_a_member_of_a_later_version_is_kept(self):
        report = kazasu.DOCUMENTS["kazasu.balance/1"].from_json({
            "schema": "kazasu.balance/1", "balances": [], "later": 1,
            "card": {"technology": "felica", "kind": None, "brand": None},
        })
        self.assertEqual(report.json["later"], 1)
        self.assertIsNone(report.card.idm)


if __name__ == "__main__":
    unittest.main()
