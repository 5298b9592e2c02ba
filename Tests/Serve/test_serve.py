#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The contract of `kazasu serve`, row by row, and what clients do wrong (`make test-serve`).

KAZASUD and CARD_STAND name the programs; SERVE_EXAMPLES, how many requests are made up for each path.
"""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

import jsonschema
import referencing
from server import KAZASUD, SUICA, TOP, Server, Stand, Stream, WebSocket, environment

TOKEN = "a token that nobody guesses"
IDM = "0101031234567890"
EDY = TOP + "/Fixtures/cards/edy/card.json"
EDY_IDM = "01120312ABCD0042"
SCHEMAS = TOP + "/Docs/schemas"


def registry():
    resources = []
    for name in os.listdir(SCHEMAS):
        with open(f"{SCHEMAS}/{name}", encoding="utf-8") as file:
            resources.append((name, referencing.Resource.from_contents(json.load(file))))
    return referencing.Registry().with_resources(resources)


REGISTRY = registry()


def check(document):
    """Checks a document against the schema that it names."""
    name = re.fullmatch(r"kazasu\.(\w+)/1", document["schema"]).group(1) + ".json"
    schema = REGISTRY.contents(name)
    jsonschema.Draft202012Validator(schema, registry=REGISTRY).validate(document)
    return document


class Case(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="kazasu-serve-"))

    def serve(self, *options, **keywords):
        return self.stack.enter_context(Server(self.folder, *options, **keywords))

    def stand(self, **keywords):
        return self.stack.enter_context(Stand(self.folder, **keywords))

    def refused(self, *options, config=None, **variables):
        """Runs a server that ends at once; returns its status and its error."""
        words = [KAZASUD, "serve", "--outbox", self.folder + "/o.sqlite", "--json", *options]
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=environment(**variables))
        self.assertEqual(done.stdout, "")
        error = json.loads(done.stderr.splitlines()[-1])
        return done.returncode, check(error)


class Command(Case):
    def test_other_computers_need_a_token(self):
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7878"]:
            status, error = self.refused("--listen", address)
            self.assertEqual((status, error["reason"]), (64, "usage"))
            self.assertIn("--token-from", error["message"])
        _, error = self.refused("--listen", "0.0.0.0:0", LC_ALL="ja_JP.UTF-8")
        self.assertIn("--token-from が必要です", error["message"])
        with self.serve("--token-from", "env:TOKEN", listen="0.0.0.0:0", TOKEN=TOKEN) as server:
            self.assertEqual(server.get("/v1/readers").status, 401)

    def test_wrong_options(self):
        for options in [
                ["--listen", "localhost"], ["--listen", "example.com:80"], ["--listen", "unix:"], ["--allow", "everything"],
                ["--page", "shop"], ["--allow-origin", "shop.example"], ["--allow-origin", "https://shop.example/a"],
                ["--allow-origin", "*"], ["--host", ""], ["--host", "http://a"], ["--connections", "0"],
                ["--token-from", "hunter2"], ["--metrics", "127.0.0.1:9"], ["--listen", "127.0.0.1:1", "--listen", "127.0.0.1:1"],
                ["--token-from", "env:NOT_SET"], ["--keep", "--read", "id"], ["--bell"], ["--format", "json"]]:
            status, error = self.refused(*options)
            self.assertEqual(status, 64, options)
            self.assertNotIn("hunter2", error["message"])

    def test_address_is_taken(self):
        with self.serve() as server:
            status, error = self.refused("--listen", f"127.0.0.1:{server.port}")
            self.assertEqual((status, error["reason"]), (69, "busy"))

    def test_files_that_are_no_sockets_stay(self):
        path = self.folder + "/precious"
        with open(path, "w", encoding="utf-8") as file:
            file.write("precious")
        status, error = self.refused("--listen", "unix:" + path)
        self.assertEqual((status, error["reason"]), (73, "cannotWrite"))
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        status, error = self.refused("--listen", "unix:/nowhere/at/all")
        self.assertEqual((status, error["reason"]), (69, "absent"))

    def test_signals_end_it(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            with self.serve() as server:
                server.ready()
                self.assertEqual(server.stop(number), (0, ""))

    def test_help_in_both_languages(self):
        for language, words in [("en", ["Examples:", "SERVER", "--token-from", "curl"]), ("ja", ["例:", "サーバー", "--token-from"])]:
            done = subprocess.run([KAZASUD, "serve", "--help", "--lang", language], capture_output=True, text=True, check=True)
            for word in words:
                self.assertIn(word, done.stdout)

    def test_settings_from_a_file_and_the_environment(self):
        path = self.folder + "/serve.yaml"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"token-from: env:TOKEN\nallow: [raw, ledger]\npage: none\nsite: shop\nhost: kiosk.example\n")
        with self.serve("--config", path, TOKEN=TOKEN, KAZASU_ALLOW_ORIGIN="https://shop.example") as server:
            token = {"Authorization": "Bearer " + TOKEN}
            self.assertEqual(server.get("/").status, 401)
            self.assertEqual(server.get("/", **token).status, 404)
            self.assertEqual(server.get("/healthz", Host="kiosk.example").status in (200, 503), True)
            self.assertEqual(server.get("/healthz", Origin="https://shop.example").getheader("Access-Control-Allow-Origin"), "https://shop.example")
            self.assertEqual(server.ask("POST", "/v1/apdu", "{}", **token).status, 400)
            with open(path, "a", encoding="utf-8") as file:
                file.write("debounce: 3\nallow-origin: https://other.example\n")
            server.process.send_signal(signal.SIGHUP)
            while not any("settings were read again" in line for line in server.log):
                self.assertIsNone(server.process.poll())
        with open(path, "w", encoding="utf-8") as file:
            file.write("page: kiosk\nlisten-on: 127.0.0.1:1\n")
        status, error = self.refused("--config", path)
        self.assertEqual(status, 65)
        self.assertIn("line 2", error["message"])

    def test_hup_changes_the_readers_of_requests_pages_and_pcsc(self):
        """What a client gets after SIGHUP, not what the log says."""
        path = self.folder + "/serve.yaml"
        stand = self.stand()
        vpcd = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        for listener in vpcd:
            self.stack.enter_context(listener).settimeout(60)
        ports = [listener.getsockname()[1] for listener in vpcd]

        def write(*lines):
            with open(path, "w", encoding="utf-8") as file:
                file.write("page: none\nread: id\n" + "\n".join(lines) + "\n")

        def hang_up(server):
            known = len(server.log)
            server.process.send_signal(signal.SIGHUP)
            while not any("settings were read again" in line for line in server.log[known:]):
                self.assertIsNone(server.process.poll())

        def uid(listener):
            """What a PC/SC program reads of the card (GET DATA), as vpcd asks for it."""
            with listener.accept()[0] as connection:
                connection.settimeout(60)
                stream = connection.makefile("rwb")
                for message in (b"\x01", b"\x02", bytes.fromhex("FFCA000000")):
                    stream.write(len(message).to_bytes(2, "big") + message)
                    stream.flush()
                answer = stream.read(int.from_bytes(stream.read(2), "big"))
                stream.close()
                return answer.hex().upper()

        def idm(server, query=""):
            answer = server.get("/v1/poll" + query)
            return answer.json["card"]["idm"].upper() if answer.status == 200 else answer.json["reason"]

        write(f"reader: ['front=virtual:{SUICA}', 'side={stand.reader}']", f"bridge: {ports[0]}")
        with self.serve("--config", path, reader=None) as server:
            self.assertEqual((idm(server), idm(server, "?reader=front")), (IDM, IDM))
            self.assertEqual(uid(vpcd[0]), IDM + "9000")
            # A request that waits for a card on a reader that is removed.
            waiting = []
            client = threading.Thread(target=lambda: waiting.append(idm(server, "?reader=side&timeout=60")))
            client.start()
            write(f"reader: ['back=virtual:{EDY}']", f"bridge: {ports[1]}")
            hang_up(server)
            self.assertEqual((idm(server), idm(server, "?reader=back")), (EDY_IDM, EDY_IDM))
            self.assertEqual(uid(vpcd[1]), EDY_IDM + "9000")
            for removed in ("front", "side"):
                self.assertEqual(idm(server, "?reader=" + removed), "unknownReader")
            client.join(60)
            self.assertEqual(waiting, ["unknownReader"])
            watched = None
            while watched != ["back"]:
                readers = check(server.get("/v1/readers").json)["readers"]
                self.assertEqual({reader["alias"] for reader in readers if "alias" in reader}, {"back"})
                watched = [reader.get("alias") for reader in readers if reader.get("watched")]
            stream = self.stack.enter_context(contextlib.closing(Stream(server)))
            readers = [stream.next()[1]["reader"]]
            write(f"reader: ['gate=virtual:{EDY}']")
            hang_up(server)
            self.assertEqual((idm(server), idm(server, "?reader=back"), idm(server, "?reader=gate")), (EDY_IDM, "unknownReader", EDY_IDM))
            # After the states, the stream goes on with what happens.
            readers.append(stream.next()[1]["reader"])
            self.assertEqual(readers, ["back", "back"])
            self.assertEqual(server.stop(), (0, ""))

    def test_settings_of_the_documents(self):
        """The example, and what pages show, are accepted as they are; the example has only options that there are."""
        with open(TOP + "/packaging/serve.yaml.example", encoding="utf-8") as file:
            example = file.read()
        known = subprocess.run([KAZASUD, "serve", "--help"], capture_output=True, text=True, check=True).stdout
        for name in re.findall(r"(?m)^#?([a-z-]+):", example):
            self.assertRegex(known, rf"(?m)^  (-\w, )?--{name}\b")
        texts = [example]
        for page in ["serve.md", "serve.ja.md", "recipes/kiosk.md", "recipes/kiosk.ja.md"]:
            with open(f"{TOP}/Docs/{page}", encoding="utf-8") as file:
                texts += re.findall(r"```yaml\n(.*?)```", file.read(), re.S)
        self.assertEqual(len(texts), 5)
        for number, text in enumerate(texts):
            path = f"{self.folder}/{number}.yaml"
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            with self.serve("--config", path, KAZASU_LEDGER=self.folder + "/ledger") as server:
                self.assertEqual(server.ready().stop(), (0, ""))

    def test_watch_still_serves_metrics_alone(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with subprocess.Popen(
                [KAZASUD, "watch", "--metrics", f"127.0.0.1:{port}", "-r", f"door=virtual:{SUICA}"], stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, env=environment()) as process:
            process.stdout.readline()
            for path, status in [("/metrics", 200), ("/v1/readers", 404)]:
                connection = http.client.HTTPConnection("127.0.0.1", port)
                connection.request("GET", path)
                response = connection.getresponse()
                self.assertEqual(response.status, status)
                response.read()
                connection.close()
            process.terminate()
            process.stdout.read()
            self.assertEqual(process.wait(), 0)

    def test_systemd_passes_sockets(self):
        script = """if True:
            import os, socket, sys
            server = socket.create_server(("127.0.0.1", 0))
            print(server.getsockname()[1], flush=True)
            os.dup2(server.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
            os.execv(sys.argv[1], sys.argv[1:])
        """
        words = [sys.executable, "-c", script, KAZASUD, "serve", "--outbox", self.folder + "/o.sqlite", "-r", f"virtual:{SUICA}"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as process:
            connection = http.client.HTTPConnection("127.0.0.1", int(process.stdout.readline()))
            connection.request("GET", "/kazasu.js")
            self.assertEqual(connection.getresponse().status, 200)
            connection.close()
            process.terminate()
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)


class Contract(Case):
    def test_documents(self):
        with self.serve().ready() as server:
            for path, schema in [
                    ("readers", "readers"), ("poll", "poll"), ("scan", "scan"), ("balance", "balance"), ("history", "history"),
                    ("dump", "dump"), ("read?service=090F&blocks=0-1", "read"), ("events", "events"),
                    ("balance?reader=door&all=true", "balance"), ("history?kind=rail", "history")]:
                with self.subTest(path=path):
                    response = server.get("/v1/" + path)
                    self.assertEqual(response.status, 200, response.data)
                    self.assertEqual(check(response.json)["schema"], f"kazasu.{schema}/1")

    def test_same_as_the_commands(self):
        with self.serve().ready() as server:
            for path, words in [("balance", ["balance"]), ("scan", ["scan"]), ("history?kind=rail,bus", ["history", "--kind", "rail,bus"])]:
                done = subprocess.run(
                    [KAZASUD, *words, "--json", "-r", "virtual:" + SUICA], capture_output=True, check=True, env=environment())
                self.assertEqual(server.get("/v1/" + path).json, json.loads(done.stdout), path)

    def test_statuses(self):
        stand = self.stand()
        with self.serve(reader=f"door={stand.reader}").ready() as server:
            for path, status, exit_status in [
                    ("balance?timeout=0", 504, 75), ("balance?reader=nope", 400, 64), ("balance?timeout=61", 400, 64),
                    ("balance?timeout=-1", 400, 64), ("balance?timeout=forever", 400, 64), ("balance?nothing=1", 400, 64),
                    ("read", 400, 64), ("events?after=unknown", 404, 66), ("nothing", 404, 64), ("ledger/sum", 403, 77),
                    ("residence", 403, 77), ("passport", 404, 64), ("classic/dump", 404, 64), ("standard/verify", 404, 64), ("stations/lookup", 400, 64)]:
                with self.subTest(path=path):
                    response = server.get("/v1/" + path)
                    self.assertEqual(response.status, status, response.data)
                    self.assertEqual(check(response.json)["status"], exit_status)
            stand.put("on")
            for path in ["tag/info", "tag/verify", "classic/info", "desfire/info", "license", "mynumber"]:
                self.assertEqual(check(server.get(f"/v1/{path}").json)["status"], 76)
                self.assertEqual(server.get(f"/v1/{path}").status, 409)
            self.assertEqual(server.ask("POST", "/v1/decode", b"no dump").status, 422)
            self.assertEqual(server.ask("POST", "/v1/decode", b"").status, 422)

    def test_waits_for_a_card(self):
        stand = self.stand()
        with self.serve(reader=f"door={stand.reader}").ready() as server:
            answers = []
            clients = [threading.Thread(target=lambda: answers.append(server.get("/v1/balance?timeout=60"))) for _ in range(5)]
            for client in clients:
                client.start()
            stand.put("on")
            for client in clients:
                client.join()
            self.assertEqual({answer.status for answer in answers}, {200})
            self.assertEqual({answer.json["balances"][0]["amount"] for answer in answers}, {10})

    def test_dumps_in_bodies(self):
        with self.serve() as server, open(SUICA, "rb") as file:
            dump = file.read()
            self.assertEqual(check(server.ask("POST", "/v1/decode", dump).json)["schema"], "kazasu.decode/1")
            text = server.ask("POST", "/v1/convert?to=hex", dump)
            self.assertEqual(text.status, 200)
            self.assertIn(b"\n0003 090F 0000 16010002166CE33BE6210A000001E300\n", text.data)
            back = server.ask("POST", "/v1/convert?to=json", text.data)
            self.assertEqual(check(json.loads(back.data))["schema"], "kazasu.dump/1")
            self.assertEqual(server.ask("POST", "/v1/convert", dump).status, 400)
            self.assertEqual(server.ask("POST", "/v1/convert?to=nothing", dump).status, 400)

    def test_permissions(self):
        with self.serve().ready() as server:
            for method, path in [
                    ("POST", "apdu"), ("POST", "felica"), ("POST", "tag/write"), ("POST", "feedback"), ("GET", "ledger/records"), ("GET", "ledger/sum"),
                    ("GET", "ledger/gaps")]:
                response = server.ask(method, "/v1/" + path, b"{}" if method == "POST" else None)
                self.assertEqual((response.status, check(response.json)["reason"]), (403, "notAllowed"), path)
            socket = WebSocket(server)
            for name in ["card.apdu", "tag.write", "ledger.sum", "reader.feedback"]:
                self.assertEqual(socket.call(name)["error"]["code"], -32077)
            socket.close()
            server.stop()
        with self.serve("--allow", "raw", "--allow", "ledger", "--ledger", self.folder + "/l.sqlite", "--keep").ready() as server:
            body = json.dumps({"commands": ["0600FFFF0000"], "reader": "door"})
            response = server.ask("POST", "/v1/felica", body)
            self.assertEqual(response.status, 200, response.data)
            check(response.json)
            # The history of the card that lies there is kept as soon as it was read.
            while server.get("/v1/ledger/records").status == 404:
                pass
            report = server.get("/v1/ledger/report")
            self.assertEqual((report.status, report.getheader("Content-Type")), (200, "text/html; charset=utf-8"))
            self.assertIn(b"<!DOCTYPE html>", report.data[:100])
            for path in ["ledger/records", "ledger/sum", "ledger/gaps"]:
                response = server.get("/v1/" + path)
                self.assertEqual(response.status, 200, response.data)
                check(response.json)

    def test_nothing_of_the_server_can_be_named(self):
        with self.serve("--allow", "raw", "--allow", "write", "--allow", "ledger,ids").ready() as server:
            for path in [
                    "residence?numberFrom=env:HOME", "residence?ca=/etc/passwd", "residence?photo=/tmp/x", "residence?check=true",
                    "classic/info?keys=/etc/passwd", "standard/info?keys=/etc/passwd", "classic/message?keyFrom=env:HOME", "tag/verify?url=https://x.example",
                    "stations/lookup?queries=0-3-13&stations=/etc/passwd",
                    "balance?reader=virtual:/etc/passwd", "balance?reader=replay:/etc/passwd", "dump?output=/tmp/x", "dump?o=/tmp/x",
                    "dump?resume=/etc/passwd", "balance?trace=/tmp/x", "balance?file=/etc/passwd", "history?keep=true",
                    "history?ledger=/tmp/x", "history?stations=/etc/passwd", "license?pin1From=env:HOME", "license?pin1=1234",
                    "license?photo=/tmp/x", "mynumber?pinFrom=file:/etc/passwd", "ledger/sum?ledger=/tmp/x", "tag/read?raw=/tmp/x",
                    "tag/info?keyFrom=env:HOME"]:
                response = server.get("/v1/" + path)
                self.assertEqual(response.status, 400, (path, response.data))
                check(response.json)
            for path, members in [
                    ("apdu", {"commands": ["00B00000"], "trace": "/tmp/x"}), ("apdu", {"commands": ["00B00000"], "pin1From": "env:HOME"}),
                    ("apdu", {"commands": ["@/etc/passwd"]}), ("tag/write", {"confirm": "04", "mime": ["a/b=@/etc/passwd"]})]:
                self.assertEqual(server.ask("POST", "/v1/" + path, json.dumps(members)).status, 400, members)
            socket = WebSocket(server)
            for params in [{"reader": "virtual:/etc/passwd"}, {"stations": ["/etc/passwd"]}, {"trace": "/tmp/x"}]:
                self.assertEqual(socket.call("card.history", **params)["error"]["code"], -32602)
            self.assertEqual(socket.call("card.license", pin1From="env:HOME")["error"]["code"], -32602)
            for method in ("card.passport", "residence.check", "classic.dump", "tag.verifyUrl"):
                self.assertEqual(socket.call(method)["error"]["code"], -32601, method)
            socket.close()

    def test_feedback(self):
        """The lights of readers that have some are in the tests of the methods; here is what HTTP and WebSocket make of it."""
        with self.serve("--allow", "feedback").ready() as server:
            client = WebSocket(server)
            for params, status, exit_status, reason in [
                    ({"pattern": "yes"}, 409, 76, "noFeedback"), ({"pattern": "off", "reader": "door"}, 409, 76, "noFeedback"),
                    ({"pattern": "no", "reader": "gate"}, 400, 64, "unknownReader"), ({"pattern": "blue"}, 400, 64, "usage"),
                    ({}, 400, 64, "usage"), ({"pattern": "yes", "reader": f"virtual:{SUICA}"}, 400, 64, "usage")]:
                with self.subTest(params=params):
                    response = server.ask("POST", "/v1/feedback", json.dumps(params))
                    self.assertEqual((response.status, check(response.json)["status"], response.json["reason"]), (status, exit_status, reason))
                    error = client.call("reader.feedback", **params)["error"]
                    self.assertEqual((error["code"], error["data"]["reason"]), (-32602 if reason == "usage" else -32000 - exit_status, reason))
            self.assertEqual(server.ask("POST", "/v1/feedback", b"{").status, 400)
            self.assertEqual(server.get("/v1/feedback").status, 405)
            client.close()

    def test_rpc(self):
        stand = self.stand()
        with self.serve(reader=f"door={stand.reader}").ready() as server:
            client = WebSocket(server)
            self.assertEqual(client.status, 101)
            start = client.call("initialize")["result"]
            self.assertEqual((start["name"], start["protocol"]), ("kazasu", 1))
            self.assertIsNone(client.call("taps.subscribe")["result"])
            self.assertEqual(client.call("taps.subscribe", read="history")["error"]["code"], -32602)
            client.call("taps.subscribe")
            stand.put("on")
            tap = client.message()
            while tap["params"]["type"] != "on":
                tap = client.message()
            self.assertEqual((tap["method"], tap["params"]["tag"]), ("tap", IDM))
            check(tap["params"])
            self.assertEqual(check(client.call("card.balance")["result"])["balances"][0]["amount"], 10)
            self.assertEqual(client.call("nothing")["error"]["code"], -32601)
            client.frame(1, b"{")
            self.assertEqual(client.message()["error"]["code"], -32700)
            client.close()

    def test_clients_choose_among_the_taps_of_a_server(self):
        stand = self.stand()
        with self.serve(reader=f"door={stand.reader}").ready() as server:
            def client(**params):
                one = self.stack.enter_context(contextlib.closing(WebSocket(server)))
                self.assertIsNone(one.call("taps.subscribe", **params)["result"])
                return one

            named, known = client(only={IDM: "Ada"}), client(only={IDM: "Ada"}, onlyKnown=True)
            strangers, elsewhere, all_ = client(only={"0101039999999999": "Eve"}, onlyKnown=True), client(reader="gate"), client()
            stand.put("on")
            for one, name in ((named, "Ada"), (known, "Ada"), (all_, None)):
                tap = one.message()["params"]
                while check(tap)["type"] == "reader":
                    tap = one.message()["params"]
                self.assertEqual((tap["type"], tap["tag"], tap.get("name")), ("on", IDM, name))
            # Whatever they were sent came before the answer.
            for one in (strangers, elsewhere):
                self.assertIsNone(one.call("taps.unsubscribe")["result"])
            for params, words in (
                    ({"read": "history"}, "same for all clients"), ({"requireMac": "env:KEY"}, "same for all clients"),
                    ({"only": "file:/etc/passwd"}, "object"), ({"only": {"x": "Ada"}}, "number"), ({"raed": 1}, "unknown")):
                error = all_.call("taps.subscribe", **params)["error"]
                self.assertEqual(error["code"], -32602)
                self.assertIn(words, error["message"])

    def test_readers_have_names(self):
        stand = self.stand()
        with self.serve("-r", "absent=rcs380", reader=f"door={stand.reader}").ready() as server:
            readers = {reader.get("alias"): reader for reader in check(server.get("/v1/readers").json)["readers"]}
            self.assertEqual((readers["door"]["state"], readers["door"]["watched"]), ("ready", True))
            self.assertEqual((readers["absent"]["id"], readers["absent"]["watched"]), ("rcs380", True))
            answer = server.get("/v1/balance?reader=nope")
            self.assertEqual((answer.status, check(answer.json)["reason"]), (400, "unknownReader"))
            self.assertEqual(answer.json["hint"], "the readers are door, absent")
            waited = server.get("/v1/balance?reader=door&timeout=0")
            self.assertEqual((waited.status, waited.json["hint"]), (504, "put one card flat on the reader; timeout=SECONDS, at most 60, waits longer"))
            stand.put("on")
            for path, words in (
                    ("balance?reader=door&card=edy", "GET /v1/scan"), ("license?reader=door", "GET /v1/balance"),
                    ("history?reader=door&since=2020-01-02&until=2020-01-01", "since is after until"), ("tag/info?reader=door", "GET /v1/balance")):
                error = check(server.get("/v1/" + path).json)
                said = f"{error['message']} {error['hint']}"
                self.assertIn(words, said)
                self.assertNotRegex(said, "--[a-z]|'kazasu ")
            icon = server.get("/favicon.ico")
            self.assertEqual((icon.status, icon.getheader("Content-Type")), (200, "image/svg+xml"))
            for path in ("lite/info", "lite/verify"):
                self.assertEqual(server.get("/v1/" + path).status, 404)

    def test_a_socket(self):
        path = self.folder + "/serve.sock"
        with self.serve("--listen", "unix:" + path, "--token-from", "env:TOKEN", TOKEN=TOKEN) as server:
            while not os.path.exists(path):
                pass
            status = os.stat(path)
            self.assertTrue(stat.S_ISSOCK(status.st_mode))
            self.assertEqual(stat.S_IMODE(status.st_mode), 0o600)
            client = socket.socket(socket.AF_UNIX)
            client.connect(path)
            client.sendall(b"GET /v1/events HTTP/1.1\r\nHost: anything\r\nConnection: close\r\n\r\n")
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 200 "))
            client.close()
            self.assertEqual(server.get("/v1/events").status, 401)
            server.stop()
            self.assertFalse(os.path.exists(path))

    def test_tokens(self):
        with self.serve("--token-from", "env:TOKEN", TOKEN=TOKEN).ready() as server:
            for path in ["/healthz", "/", "/kazasu.js"]:
                self.assertEqual(server.get(path).status, 200)
            for path in ["/v1/balance", "/v1/taps", "/v1/events", "/v1/rpc", "/openapi.json", "/metrics"]:
                for wrong in [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer"}, {"Cookie": "kazasu_session=1.2"}]:
                    self.assertEqual(server.get(path, **wrong).status, 401, path)
            good = {"Authorization": "Bearer " + TOKEN}
            self.assertEqual(server.get("/v1/balance", **good).status, 200)
            self.assertEqual(Stream(server).status, 401)
            self.assertEqual(Stream(server, token=TOKEN).status, 200)
            self.assertEqual(WebSocket(server).status, 401)
            cookie = server.ask("POST", "/v1/session", **good).getheader("Set-Cookie")
            self.assertIn("; HttpOnly; SameSite=Strict", cookie)
            session = {"Cookie": cookie.split(";")[0]}
            self.assertEqual(server.get("/v1/balance", **session).status, 200)
            client = WebSocket(server, Cookie=session["Cookie"], Origin=f"http://127.0.0.1:{server.port}")
            self.assertEqual(client.status, 101)
            self.assertEqual(WebSocket(server, Cookie=session["Cookie"], Origin="http://evil.example").status, 403)

    def test_the_log_is_not_personal(self):
        with self.serve("-v", "--token-from", "env:TOKEN", TOKEN=TOKEN).ready() as server:
            good = {"Authorization": "Bearer " + TOKEN}
            server.get("/v1/balance?reader=door", **good)
            server.get(f"/v1/{IDM}?tag={IDM}", **good)
            server.get(f"/v1/balance?reader={IDM}", **good)
            server.stop()
            log = "".join(server.log)
            self.assertIn("GET /v1/balance 200", log)
            for secret in [IDM, IDM.upper(), TOKEN, "reader="]:
                self.assertNotIn(secret, log)

    def test_redact(self):
        with self.serve("--redact", "--page", "none").ready() as server:
            stream = Stream(server)
            state = stream.card()
            answers = [server.get(path).data.decode() for path in ["/v1/balance", "/v1/events", "/v1/poll", "/v1/dump"]]
            client = WebSocket(server)
            answers += [json.dumps(state), json.dumps(client.call("card.poll"))]
            for answer in answers:
                self.assertNotIn(IDM, answer)
            client.close()
            stream.close()

    def test_metrics_and_description(self):
        with self.serve().ready() as server:
            self.assertIn(b'kazasu_reader_up{reader="door"} 1\n', server.get("/metrics").data)
            self.assertEqual(check(server.get("/healthz").json), {"schema": "kazasu.health/1", "status": "ok", "readers": 1})
            document = server.get("/openapi.json").json
            self.assertTrue(document["openapi"].startswith("3.1."))
            for path in ["/v1/balance", "/v1/taps", "/v1/events", "/v1/rpc", "/healthz", "/metrics", "/"]:
                self.assertIn(path, document["paths"])
        with tempfile.TemporaryDirectory() as folder, Server(folder, reader=None, KAZASU_READER="rcs380:serial=0") as server:
            response = server.get("/healthz")
            self.assertEqual((response.status, check(response.json)["status"]), (503, "noReader"))
            self.assertEqual(check(server.get("/v1/balance?timeout=1").json)["status"], 69)


class Taps(Case):
    def test_stream(self):
        stand = self.stand()
        with self.serve(reader=f"door={stand.reader}").ready() as server:
            stream = Stream(server)
            fields, state = stream.next("state")
            self.assertEqual((state["reader"], state["on"]), ("door", None))
            self.assertIn(state["state"], ("gone", "ready"))
            stand.put("on")
            fields, on = stream.next("on")
            self.assertEqual(fields["id"], check(on)["id"])
            # The page is there, so that the history is read.
            self.assertEqual((on["tag"], on["balances"][0]["amount"], len(on["records"])), (IDM, 10, 20))
            late = Stream(server)
            self.assertEqual(late.next("state")[1]["on"], on)
            stand.put("off")
            off = stream.next("off")[1]
            self.assertEqual(check(off)["on"], on["id"])
            resumed = Stream(server, after=on["id"])
            self.assertEqual(resumed.next()[1], off)
            gap = Stream(server, after="unknown")
            self.assertEqual(gap.next(), ({"retry": "1000", "event": "gap"}, {"after": "unknown"}))
            stored = [gap.next()[1]["id"] for _ in range(3)]
            page = check(server.get(f"/v1/events?after={stored[0]}&limit=1").json)
            self.assertEqual(([event["id"] for event in page["events"]], page["next"]), ([stored[1]], stored[1]))
            lines = server.get("/v1/events", Accept="application/x-ndjson")
            self.assertEqual([json.loads(line)["id"] for line in lines.data.splitlines()], stored)
            for client in [stream, late, resumed, gap]:
                client.close()

    def test_reading_is_the_servers(self):
        with self.serve("--page", "none").ready() as server:
            stream = Stream(server)
            on = stream.card()
            self.assertEqual(on["tag"], IDM)
            self.assertNotIn("records", on)
            stream.close()

    def test_requests_never_make_a_card_leave(self):
        with self.serve().ready() as server:
            amounts = []

            def ask():
                for _ in range(5):
                    amounts.append(server.get("/v1/balance").json["balances"][0]["amount"])

            clients = [threading.Thread(target=ask) for _ in range(20)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            self.assertEqual(amounts, [10] * 100)
            events = server.get("/v1/events").json["events"]
            self.assertEqual([event["type"] for event in events], ["reader", "on"])

    def test_reader_unplugged_in_a_request(self):
        stand = self.stand()
        with self.serve(reader=f"door={stand.reader}").ready() as server:
            stream = Stream(server)
            answers = []
            client = threading.Thread(target=lambda: answers.append(server.get("/v1/balance?timeout=60")))
            client.start()
            stand.put("on")
            stream.next("on")
            stand.put("off")
            stand.unplug()
            client.join()
            if answers[0].status != 200:
                self.assertIn(answers[0].status, (502, 503))
                check(answers[0].json)
            self.assertIn(stream.next("reader")[1]["state"], ("gone", "error"))
            self.assertEqual(server.get("/healthz").status, 503)
            self.assertIn(server.get("/v1/balance?timeout=1").status, (502, 503))

    def test_a_client_that_goes_away_frees_the_reader(self):
        stand = self.stand()
        with self.serve(reader=f"door={stand.reader}").ready() as server:
            for _ in range(20):
                client = server.connect()
                client.sendall(b"GET /v1/balance?timeout=60 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                client.close()
            stand.put("on")
            self.assertEqual(server.get("/v1/balance?timeout=60").status, 200)

    def test_killed_with_fifty_streams(self):
        visits = self.folder + "/visits.json"
        with open(TOP + "/Fixtures/felica/short-visits.json", encoding="utf-8") as file:
            card = json.load(file)
        card["virtual"]["visits"].update(frames=6, stay=6)
        with open(visits, "w", encoding="utf-8") as file:
            json.dump(card, file)
        server = self.serve("--page", "none", reader=f"door=virtual:{visits}").ready()
        ends, seen = threading.Event(), [[] for _ in range(50)]

        def follow(events):
            last = None
            while not ends.is_set():
                try:
                    stream = Stream(server, after=last)
                except (OSError, IndexError):
                    continue
                for fields, _ in stream:
                    if fields["event"] in ("on", "off", "reader"):
                        events.append(fields["id"])
                    else:
                        self.assertEqual(fields["event"], "state")
                    last = fields.get("id", last)
                stream.close()

        clients = [threading.Thread(target=follow, args=(events,), daemon=True) for events in seen]
        for client in clients:
            client.start()
        for wanted in [10, 20, 30]:
            while min(map(len, seen)) < wanted:
                self.assertIsNone(server.process.poll())
            server.stop(signal.SIGKILL)
            server.start()
        while min(map(len, seen)) < 40:
            self.assertIsNone(server.process.poll())
        ends.set()
        server.stop()
        for client in clients:
            client.join(timeout=60)
        with contextlib.closing(sqlite3.connect(server.outbox)) as database:
            stored = [row[0] for row in database.execute("SELECT id FROM events ORDER BY position")]
        for events in seen:
            first = stored.index(events[0])
            self.assertEqual(events, stored[first:first + len(events)])


class BesideASetup(Case):
    """A key change on the reader that the server was given: the server is told that it is in use, and does not disturb."""

    def test_a_dump_while_a_tag_is_set_up(self):
        link, card, journal = (f"{self.folder}/{name}" for name in ("card", "card.json", "journal"))
        with open(f"{TOP}/Fixtures/virtual/ntag424-factory.json", encoding="utf-8") as source, open(card, "w", encoding="utf-8") as copy:
            copy.write(source.read())
        simulator = self.stack.enter_context(subprocess.Popen(
            [KAZASUD, "simulate", card, "--link", link], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=environment()))
        self.addCleanup(simulator.kill)
        reader = simulator.stdout.readline().rstrip("\n")
        setup = self.stack.enter_context(subprocess.Popen(
            [KAZASUD, "tag", "provision", "--plan", f"{TOP}/Fixtures/provision/ntag424-plan.json", "--new-keys",
             f"{TOP}/Fixtures/provision/ntag424-keys.txt", "--yes", "--json", "--journal", journal, "-r", reader, "--trace", "/dev/stderr"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()))
        self.addCleanup(setup.kill)

        def steps():
            if not os.path.exists(journal):
                return 0
            with open(journal, encoding="utf-8") as file:
                return len(file.readlines()) - 1

        while steps() < 1:
            self.assertTrue(setup.stderr.readline(), "it ended without a step")
        setup.send_signal(signal.SIGSTOP)
        server = self.serve(reader=f"door={reader}")
        response = server.get("/v1/dump?timeout=1")
        self.assertEqual((response.status, check(response.json)["reason"]), (503, "busy"))
        setup.send_signal(signal.SIGCONT)
        output, errors = setup.communicate(timeout=120)
        self.assertEqual(setup.returncode, 0, errors)
        self.assertTrue(check(json.loads(output))["verified"])
        server.ready()
        self.assertEqual(server.get("/v1/poll?timeout=10").json["cards"][0]["card"]["uid"], "04de5f1eacc040")


class BadInput(Case):
    def test_raw_bytes(self):
        with self.serve() as server:
            for text, status in [
                    ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
                    ("POST /v1/decode HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
                    ("POST /v1/decode HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8388609\r\n\r\n", 413),
                    ("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "a" * 17000 + "\r\n\r\n", 431), ("\x16\x03\x01\x02\x00\x01\x00", 400)]:
                answer = server.raw(text)
                self.assertRegex(answer, rf"^HTTP/1\.[01] {status} ")
                check(json.loads(answer.split("\r\n\r\n", 1)[1]))

    def test_half_open_connections(self):
        with self.serve("--connections", "64") as server:
            clients = [server.connect() for _ in range(40)]
            self.assertEqual(server.get("/v1/events").status, 200)
            for client in clients:
                client.close()
            self.assertEqual(server.get("/v1/events").status, 200)

    def test_too_many_connections(self):
        with self.serve("--connections", "3").ready() as server:
            streams = [Stream(server) for _ in range(3)]
            response = server.get("/healthz")
            self.assertEqual((response.status, check(response.json)["reason"]), (503, "busy"))
            streams[0].close()
            while server.get("/v1/events").status != 200:
                pass

    def test_clients_that_stop_reading(self):
        with self.serve().ready() as server:
            slow = [server.connect() for _ in range(5)]
            for client in slow:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.sendall(b"GET /v1/dump HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
            self.assertEqual(server.get("/v1/balance").status, 200)
            for client in slow:
                client.close()

    def test_rebinding_and_other_origins(self):
        with self.serve().ready() as server:
            for host in ["evil.example", f"evil.example:{server.port}", "127.0.0.1.nip.io", "[::1]"]:
                self.assertEqual(server.get("/v1/balance", Host=host).status, 421)
            for origin in ["http://evil.example", "null", "http://localhost:1"]:
                self.assertEqual(server.get("/v1/balance", Origin=origin).status, 403)
                self.assertEqual(server.ask("OPTIONS", "/v1/balance", Origin=origin).status, 403)
                self.assertEqual(WebSocket(server, Origin=origin).status, 403)
            self.assertEqual(server.get("/v1/dump", Sec_Fetch_Site="cross-site").status, 403)

    def test_schemathesis(self):
        examples = os.environ.get("SERVE_EXAMPLES", "10")
        program = os.path.join(os.path.dirname(sys.executable), "schemathesis")
        with self.serve("--allow", "raw", "--allow", "write", "--allow", "ledger", "--ledger", self.folder + "/l.sqlite", "--keep").ready() as server:
            url = f"http://127.0.0.1:{server.port}"
            # The stream has no end, and the WebSocket's handshake is not HTTP.
            done = subprocess.run(
                [program, "run", url + "/openapi.json", "--url", url, "--max-examples", examples, "--exclude-path-regex",
                 "^/v1/(taps|rpc)$", "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
                 "--phases", "examples,coverage,fuzzing", "--generation-deterministic", "--no-color", "--request-timeout", "120"],
                capture_output=True, text=True, env={**environment(), "PYTHONIOENCODING": "utf-8"}, cwd=self.folder)
            self.assertIsNone(server.process.poll(), "".join(server.log))
            self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr)
            print(re.findall(r".*(?:generated|examples|test cases).*", done.stdout)[-3:])


if __name__ == "__main__":
    unittest.main(verbosity=2)
