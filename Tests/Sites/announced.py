#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a watcher announces to Home Assistant: "TOPIC PAYLOAD" for each retained configuration."""

import os
import subprocess

from brokers import Mosquitto

with Mosquitto() as broker:
    # Without a collector it would publish for ever; one second is enough to announce everything.
    publisher = subprocess.Popen(
        [os.environ["SITE_PUBLISHER"], broker.host, str(broker.port), "1", "1", "1", "1", "0"],
        env=dict(os.environ, KAZASU_HOME_ASSISTANT="1"), stdout=subprocess.DEVNULL)
    subprocess.run(
        ["mosquitto_sub", "-h", broker.host, "-p", str(broker.port), "-v", "-C", "5", "-t", "homeassistant/#"],
        check=True, timeout=60)
    publisher.kill()
    publisher.wait()
