#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Home Assistant's own validators and templates take what Kazasu announces (`make test-ha`).

Reads lines "TOPIC PAYLOAD" of a broker; runs with the Python that has homeassistant installed.
"""

import importlib
import json
import re
import sys

from homeassistant.components.mqtt import tag
from homeassistant.components.mqtt.discovery import TOPIC_MATCHER
from homeassistant.helpers import template
from homeassistant.util import dt

MODULES = {"tag": tag.DISCOVERY_SCHEMA}
for name in ("event", "binary_sensor", "sensor"):
    MODULES[name] = importlib.import_module(f"homeassistant.components.mqtt.{name}").DISCOVERY_SCHEMA
MODULES["device_automation"] = importlib.import_module(
    "homeassistant.components.mqtt.device_trigger").TRIGGER_DISCOVERY_SCHEMA

# What the templates make of events and states: component, JSON, text.
NOW = dt.utcnow().isoformat()
RENDERED = [
    ("tag", {"tag": "ff"}, "ff"),
    ("device_automation", {"type": "on", "at": NOW}, "on"),
    ("device_automation", {"type": "on", "at": "2020-01-01T00:00:00.000+09:00"}, "late"),
    ("device_automation", {"type": "off", "at": NOW}, "off"),
    ("event", {"type": "on", "tag": "ff", "at": "x"}, '{"at":"x","event_type":"on","tag":"ff"}'),
    ("event", {"type": "off", "at": "x"}, '{"at":"x","event_type":"off","tag":null}'),
    ("event", {"type": "reader", "state": "gone", "at": "x"}, ""),
    ("binary_sensor", {"state": "ready"}, "ready"),
    ("binary_sensor", {"state": "error"}, "gone"),
    ("sensor", {"pending": 7}, "7"),
]


def main():
    payloads, seen = {}, set()
    for line in sys.stdin:
        topic, _, text = line.rstrip("\n").partition(" ")
        match = TOPIC_MATCHER.match(topic.removeprefix("homeassistant/"))
        assert match, f"Home Assistant ignores the topic {topic}"
        component, payload = match.group("component"), json.loads(text)
        seen.add(component)
        checked = MODULES[component]({key: value for key, value in payload.items()})
        for key in payload:
            assert key in checked or key == "origin", f"{component} drops {key}"
        payloads[component] = payload
    assert seen == set(MODULES), f"only {sorted(seen)} were announced"
    environment = template.TemplateEnvironment(None)
    # Needs a running Home Assistant otherwise.
    environment.globals["now"] = dt.now
    for component, value, expected in RENDERED:
        text = environment.from_string(payloads[component]["value_template"]).render(value_json=value)
        text = re.sub(r'([,:]) ', r"\1", text)
        assert text == expected, f"{component}: {text!r}, not {expected!r}"
    print(f"{len(seen)} kinds of payloads and {len(RENDERED)} templates are accepted")


if __name__ == "__main__":
    main()
