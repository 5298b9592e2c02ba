# SPDX-License-Identifier: Apache-2.0
"""What Home Assistant's own validators and templates make of what Kazasu announces and publishes."""

import importlib
import json
import re

from homeassistant.components.mqtt import tag
from homeassistant.components.mqtt.discovery import TOPIC_MATCHER
from homeassistant.helpers import template
from homeassistant.util import dt

MODULES = {"tag": tag.DISCOVERY_SCHEMA}
for name in ("event", "binary_sensor", "sensor"):
    MODULES[name] = importlib.import_module(f"homeassistant.components.mqtt.{name}").DISCOVERY_SCHEMA
MODULES["device_automation"] = importlib.import_module(
    "homeassistant.components.mqtt.device_trigger").TRIGGER_DISCOVERY_SCHEMA

MOMENT = dt.utcnow()
NOW, THEN = MOMENT.isoformat(), "2020-01-01T00:00:00.000+09:00"
ON = {"type": "on", "tag": "ff", "at": NOW}
YEN = {"amount": 1234, "currency": "JPY", "exponent": 0}

# What the templates make of taps and states: the end of the ID, JSON, text.
RENDERED = [
    ("entrance", ON, "ff"),
    ("entrance", {**ON, "tag": None}, ""),
    ("entrance", {**ON, "at": THEN}, ""),
    ("entrance", {**ON, "type": "off"}, ""),
    ("entrance", {**ON, "type": "idle"}, ""),
    ("presented", ON, "on"),
    ("presented", {**ON, "at": THEN}, "late"),
    ("removed", {**ON, "type": "off"}, "off"),
    ("removed", {**ON, "type": "off", "reason": "restart"}, "late"),
    ("card", ON, f'{{"at":"{NOW}","event_type":"on","tag":"ff","type":"on"}}'),
    ("card", {**ON, "at": THEN}, ""),
    ("reader", {"state": "ready"}, "ready"),
    ("reader", {"state": "error"}, "gone"),
    ("outbox", {"pending": 7}, "7"),
    ("balance", ON, ""),
    ("balance", {**ON, "balance": YEN}, "1234"),
    ("balance", {**ON, "balance": YEN, "at": THEN}, ""),
    ("balance", {**ON, "balance": {**YEN, "currency": "HKD"}}, ""),
]


def check(lines):
    """Checks lines "TOPIC PAYLOAD" of a broker: each configuration is accepted whole, and its template does as it should."""
    payloads, seen = {}, set()
    for line in lines:
        topic, _, text = line.rstrip("\n").partition(" ")
        match = TOPIC_MATCHER.match(topic.removeprefix("homeassistant/"))
        assert match, f"Home Assistant ignores the topic {topic}"
        component, payload = match.group("component"), json.loads(text)
        seen.add(component)
        checked = MODULES[component](dict(payload))
        for key in payload:
            assert key in checked or key == "origin", f"{component} drops {key}"
        payloads[match.group("object_id").rpartition("-")[2]] = payload
    assert seen == set(MODULES), f"only {sorted(seen)} were announced"
    environment = template.TemplateEnvironment(None)
    environment.globals["now"] = lambda: MOMENT
    for name, value, expected in RENDERED:
        text = environment.from_string(payloads[name]["value_template"]).render(value_json=value)
        text = re.sub(r'([,:]) ', r"\1", text)
        assert text == expected, f"{name}: {text!r}, not {expected!r}"
