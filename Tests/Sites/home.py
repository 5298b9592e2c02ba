# SPDX-License-Identifier: Apache-2.0
"""A real Home Assistant without its pages, in a folder of its own, as a client of its WebSocket API sees it."""

import asyncio
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time

import aiohttp
import jwt

from brokers import Server, free_port, wait_until

CONFIGURATION = """\
homeassistant: {{name: Test, time_zone: Asia/Tokyo, currency: JPY, unit_system: metric}}
http: {{server_host: 127.0.0.1, server_port: {port}}}
api:
websocket_api:
config:
tag:
automation: !include automations.yaml
logger: {{default: warning}}
"""


class Home(Server):
    """Home Assistant with the MQTT integration, set up by files as its own pages would write them."""

    def __init__(self, broker_port):
        super().__init__()
        self.port = free_port()
        self.events = []
        self.results = {}
        self.number = 0
        self.socket = None
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        token, key = secrets.token_hex(16), secrets.token_hex(64)
        self.token = jwt.encode({"iss": token, "iat": int(time.time()), "exp": int(time.time()) + 86_400}, key, "HS256")
        self.write("configuration.yaml", CONFIGURATION.format(port=self.port))
        self.write("automations.yaml", "[]\n")
        self.store("onboarding", 4, {"done": ["user", "core_config", "analytics", "integration"]})
        self.store("auth", 1, {
            "users": [{"id": "owner", "group_ids": ["system-admin"], "is_owner": True, "is_active": True,
                       "name": "Owner", "system_generated": False, "local_only": False}],
            "groups": [{"id": f"system-{name}", "name": name} for name in ("admin", "users", "read-only")],
            "credentials": [],
            "refresh_tokens": [{
                "id": token, "user_id": "owner", "client_id": None, "client_name": "test", "client_icon": None,
                "token_type": "long_lived_access_token", "created_at": "2026-01-01T00:00:00+00:00",
                "access_token_expiration": 86_400.0, "token": secrets.token_hex(64), "jwt_key": key,
                "last_used_at": None, "last_used_ip": None, "expire_at": None, "credential_id": None,
                "version": None}]})
        self.store("core.config_entries", 1, {"entries": [{
            "entry_id": "mqtt", "version": 1, "minor_version": 1, "domain": "mqtt", "title": "MQTT",
            "data": {"broker": "127.0.0.1", "port": broker_port, "discovery": True}, "options": {},
            "pref_disable_new_entities": False, "pref_disable_polling": False, "source": "user",
            "unique_id": None, "disabled_by": None}]})

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def store(self, key, version, data):
        self.write(f".storage/{key}", json.dumps({"version": version, "minor_version": 1, "key": key, "data": data}))

    # --- the process

    def start(self):
        program = os.path.join(os.path.dirname(sys.executable), "hass")
        with open(os.path.join(self.folder, "output"), "a", encoding="utf-8") as output:
            self.process = subprocess.Popen(
                [sys.executable, program, "-c", self.folder, "--skip-pip"], stdout=output, stderr=output)
        wait_until(self.connect, 180)
        wait_until(lambda: self.call("get_config")["state"] == "RUNNING", 180)

    def connect(self):
        """Whether it accepts the token; from then on its events are kept."""
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "output"), encoding="utf-8") as output:
                raise RuntimeError(output.read())
        with contextlib.suppress(OSError, aiohttp.ClientError):
            self.run(self.open())
            self.call("subscribe_events")
            return True
        return False

    def stop(self):
        """As its own restart does: it says goodbye and stores what it knows."""
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(120)
            self.process = None

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def __exit__(self, *arguments):
        if self.process:
            self.resume()
            self.kill()
        super().__exit__(*arguments)
        self.loop.call_soon_threadsafe(self.loop.stop)

    # --- the WebSocket

    def run(self, work, limit=30):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(limit)

    async def open(self):
        session = aiohttp.ClientSession()
        try:
            socket = await session.ws_connect(f"http://127.0.0.1:{self.port}/api/websocket", max_msg_size=0)
            await socket.receive_json()
            await socket.send_json({"type": "auth", "access_token": self.token})
            assert (await socket.receive_json())["type"] == "auth_ok"
        except BaseException:
            await session.close()
            raise
        self.socket = socket
        self.loop.create_task(self.listen(session, socket))

    async def listen(self, session, socket):
        async with session:
            async for message in socket:
                document = json.loads(message.data)
                if document["type"] == "event":
                    self.events.append((time.time(), document["event"]))
                elif document["type"] == "result":
                    self.results.pop(document["id"]).set_result(document)

    async def ask(self, members):
        self.number += 1
        self.results[self.number] = answer = self.loop.create_future()
        await self.socket.send_json({"id": self.number, **members})
        return await answer

    def call(self, command, **members):
        """The result of a command."""
        answer = self.run(self.ask({"type": command, **members}))
        assert answer["success"], answer
        return answer["result"]

    async def put(self, path, document):
        async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {self.token}"}) as session:
            async with session.post(f"http://127.0.0.1:{self.port}/api/{path}", json=document) as answer:
                assert answer.status == 200, await answer.text()

    # --- what a user would look at

    def states(self):
        return {state["entity_id"]: state for state in self.call("get_states")}

    def device(self, identifier):
        """The device with this identifier of MQTT, or `None`."""
        devices = self.call("config/device_registry/list")
        return next((one for one in devices if ["mqtt", identifier] in one["identifiers"]), None)

    def automate(self, name, trigger):
        """Makes an automation as the editor does; that it runs is its only effect."""
        self.run(self.put(f"config/automation/config/{name}", {
            "alias": name, "mode": "queued", "max": 500, "trigger": [trigger], "condition": [], "action": []}))
        wait_until(lambda: f"automation.{name}" in self.states())

    def log(self):
        with open(os.path.join(self.folder, "home-assistant.log"), encoding="utf-8") as file:
            return file.read()
