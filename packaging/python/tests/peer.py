#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for `kazasu rpc` where the real program would have to fail at a given moment. Each method is one behavior."""

import json
import os
import signal
import sys
import threading

lock = threading.Lock()
waiting = {}
heard = []


def send(message):
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def answer(number, result=None, error=None):
    send({"jsonrpc": "2.0", "id": number, **({"error": error} if error else {"result": result})})


def handle(message):
    """Answers one message."""
    number, method, params = message.get("id"), message["method"], message.get("params")
    heard.append([method, params])
    if method == "initialize":
        protocol = int(os.environ.get("PEER_PROTOCOL", "1"))
        answer(number, {"name": "peer", "version": "0", "protocol": protocol, "methods": ["echo"], "readers": []})
    elif method == "$/cancel":
        if waiting.pop(params["id"], None):
            answer(params["id"], error={"code": -32800, "message": "Request cancelled"})
    elif method == "arguments":
        answer(number, sys.argv[1:])
    elif method == "heard":
        answer(number, list(heard))
    elif method == "hang":
        waiting[number] = True
    elif method == "fail":
        answer(number, error=params["error"])
    elif method == "work":
        for done in range(1, 4):
            send({"jsonrpc": "2.0", "method": "progress", "params": {"id": number, "done": done, "total": 3}})
        answer(number, "worked")
    elif method == "taps":
        for event in params["events"]:
            send({"jsonrpc": "2.0", "method": "tap", "params": event})
        answer(number)
    elif method == "taps.unsubscribe":
        # The card that lies there leaves with the subscription.
        off = {"schema": "kazasu.tap/1", "type": "off", "reason": "shutdown", "seq": 99}
        send({"jsonrpc": "2.0", "method": "tap", "params": off})
        answer(number)
    elif method == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif method == "leave":
        print(params["why"], file=sys.stderr)
        sys.exit(params["status"])
    elif method == "babble":
        print(params["line"], flush=True)
    elif method == "deaf":
        # Neither reads nor ends.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        answer(number)
        threading.Event().wait()
    else:
        answer(number, params)


for line in sys.stdin:
    handle(json.loads(line))
