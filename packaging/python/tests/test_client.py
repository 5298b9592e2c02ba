# SPDX-License-Identifier: Apache-2.0
"""The clients before a program that fails as it is told to."""

import asyncio
import builtins
import gc
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import unittest

import kazasu

PEER = str(pathlib.Path(__file__).with_name("peer.py"))
EVENT = {
    "schema": "kazasu.tap/1", "id": "019ab1c2-0000-7000-8000-000000000000", "seq": 1, "type": "on",
    "at": "2026-11-24T09:00:00.000+09:00", "mono": 1, "clock": "synchronised", "site": "s", "reader": "r",
    "technology": "felica", "identity": "fixed", "tag": "0101031234567890",
}
NO_CARD = {
    "code": -32075, "message": "no card",
    "data": {"schema": "kazasu.error/1", "status": 75, "reason": "noCard", "message": "no card came in time", "hint": "wait"},
}


def event(number):
    return {**EVENT, "seq": number}


def seen(client, method):
    """The parameters with which the program heard a method."""
    return [params for name, params in client.call("heard") if name == method]


class ClientTests(unittest.TestCase):
    def setUp(self):
        self.client = kazasu.Client(program=PEER)
        self.addCleanup(self.client.close)

    def test_the_program_says_what_it_is(self):
        info = self.client.info()
        self.assertEqual((info.name, info.protocol, info.methods), ("peer", 1, ["echo"]))

    def test_parameters_arrive_under_their_names_in_json(self):
        with self.assertRaises(kazasu.ProgramError):  # The answer is no document.
            self.client.license(pin1_from="env:PIN1", free=True)
        self.assertEqual(seen(self.client, "card.license"), [{"pin1From": "env:PIN1", "free": True}])

    def test_settings_are_those_of_the_command_line(self):
        with kazasu.Client(program=PEER, reader=["in=rcs380", "out=rcs300"], lang="ja", redact=True) as client:
            self.assertEqual(
                client.call("arguments"),
                ["rpc", "--reader", "in=rcs380", "--reader", "out=rcs300", "--lang", "ja", "--redact"])

    def test_a_failure_is_the_exception_of_its_reason(self):
        with self.assertRaises(kazasu.NoCardError) as caught:
            self.client.call("fail", error=NO_CARD)
        error = caught.exception
        self.assertEqual((error.reason, error.status, error.hint), ("noCard", 75, "wait"))
        self.assertEqual(str(error), "no card came in time (wait)")
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), vars(again)), (type(error), vars(error)))

    def test_what_was_read_all_the_same_is_partial(self):
        balance = {
            "schema": "kazasu.balance/1", "card": {"technology": "felica", "kind": None, "brand": None}, "balances": [],
        }
        data = {**NO_CARD["data"], "status": 74, "reason": "cardLost", "partial": balance}
        with self.assertRaises(kazasu.CardLostError) as caught:
            self.client.call("fail", error={"code": -32074, "message": "", "data": data})
        self.assertIsInstance(caught.exception.partial, kazasu.BalanceReport)

    def test_a_failure_without_a_document_has_the_status_of_its_code(self):
        for code, status, reason in [(-32069, 69, "unknown"), (-32602, 70, "usage"), (0, 70, "unknown")]:
            with self.subTest(code=code), self.assertRaises(kazasu.KazasuError) as caught:
                self.client.call("fail", error={"code": code, "message": "m"})
            self.assertEqual((caught.exception.status, caught.exception.reason), (status, reason))

    def test_a_reason_of_a_later_version_is_kept(self):
        with self.assertRaises(kazasu.KazasuError) as caught:
            self.client.call("fail", error={"code": -32074, "message": "m", "data": {"reason": "moonPhase", "status": 74}})
        self.assertEqual((caught.exception.reason, type(caught.exception)), ("moonPhase", kazasu.KazasuError))

    def test_progress_is_reported(self):
        steps = []
        self.assertEqual(self.client.call("work", progress=lambda done, total: steps.append((done, total))), "worked")
        self.assertEqual(steps, [(1, 3), (2, 3), (3, 3)])

    def test_a_callback_that_fails_or_waits_stops_nothing(self):
        def fail(done, total):
            raise ValueError

        failures = []

        def wait(done, total):
            try:
                self.client.call("echo")
            except RuntimeError as error:
                failures.append(error)

        with self.assertLogs("kazasu"):
            self.assertEqual(self.client.call("work", progress=fail), "worked")
        self.assertEqual(self.client.call("work", progress=wait), "worked")
        self.assertEqual(len(failures), 3)

    def test_a_request_that_is_no_json_never_leaves(self):
        for value in (float("nan"), "\udcff", object(), "x" * (9 * 1024 * 1024)):
            with self.assertRaises((ValueError, TypeError)):
                self.client.call("echo", value=value)
        self.assertEqual(self.client.call("echo", value="読む\n"), {"value": "読む\n"})

    def test_sixteen_threads_get_their_own_answers(self):
        wrong = []

        def ask(number):
            for turn in range(50):
                if self.client.call("echo", value=[number, turn]) != {"value": [number, turn]}:
                    wrong.append((number, turn))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    # --- cancelling -------------------------------------------------------------------------------------------------

    def test_a_call_that_takes_too_long_is_cancelled(self):
        with kazasu.Client(program=PEER, call_timeout=0.05) as client:
            with self.assertRaises(TimeoutError):
                client.call("hang")
            client._call_timeout = None
            self.assertEqual(seen(client, "$/cancel"), [{"id": 2}])

    def test_ctrl_c_cancels_and_the_client_goes_on(self):
        script = (
            "import kazasu, os, signal, sys\n"
            "client = kazasu.Client(program=sys.argv[1])\n"
            "client.info()\n"
            "signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGINT))\n"
            "signal.setitimer(signal.ITIMER_REAL, 0.1)\n"
            "try: client.call('hang')\n"
            "except KeyboardInterrupt: print([one for one in client.call('heard') if one[0] == '$/cancel'])\n"
        )
        ended = subprocess.run([sys.executable, "-c", script, PEER], capture_output=True, text=True, start_new_session=True)
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("[['$/cancel', {'id': 2}]]\n", "", 0))

    # --- the program ends -------------------------------------------------------------------------------------------

    def test_a_program_that_is_killed_is_an_exception(self):
        with self.assertRaisesRegex(kazasu.ProgramError, "signal 9"):
            self.client.call("die")
        self.assertTrue(self.client.closed)
        with self.assertRaisesRegex(kazasu.ProgramError, "signal 9"):
            self.client.call("echo")

    def test_all_who_wait_are_told(self):
        failures = []

        def ask():
            try:
                self.client.call("hang")
            except kazasu.ProgramError as error:
                failures.append(error)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        os.kill(self.client.pid, signal.SIGKILL)
        for thread in threads:
            thread.join()
        self.assertEqual(len(failures), 8)

    def test_why_a_program_left_is_in_the_exception(self):
        with self.assertRaisesRegex(kazasu.ProgramError, "status 64; kazasu: unknown command 'rpc'") as caught:
            self.client.call("leave", why="kazasu: unknown command 'rpc'", status=64)
        self.assertEqual(caught.exception.status, 64)

    def test_what_is_no_message_ends_the_client(self):
        lines = ["hello", "[]", "null", "[" * 100_000, '{"id":null,"error":{"code":-32700,"message":"Parse error"}}']
        for line in lines:
            with self.subTest(line=line[:20]), kazasu.Client(program=PEER) as client:
                with self.assertRaises(kazasu.ProgramError):
                    client.call("babble", line=line)
                self.assertTrue(client.closed)

    def test_unknown_messages_are_left_alone(self):
        for line in ('{"id":77,"result":1}', '{"method":"later"}', '{"method":"progress"}', "{}", '{"id":true}'):
            with self.subTest(line=line), self.assertRaises(TimeoutError):
                self.client._call_timeout = 0.05
                self.client.call("babble", line=line)
            self.client._call_timeout = None
            self.assertEqual(self.client.call("echo", value=1), {"value": 1})

    def test_another_protocol_is_refused(self):
        client = kazasu.Client(program=PEER, env={"PEER_PROTOCOL": "2"})
        self.addCleanup(client.close)
        with self.assertRaisesRegex(kazasu.ProgramError, "version 2"):
            client.call("hang")

    def test_a_program_that_is_not_there_is_an_exception(self):
        for program in ("/nowhere/kazasu", os.devnull):
            with self.assertRaises(kazasu.ProgramError):
                kazasu.Client(program=program)

    def test_a_program_that_does_not_end_is_killed(self):
        from kazasu import _connection

        self.addCleanup(setattr, _connection, "_PATIENCE", _connection._PATIENCE)
        _connection._PATIENCE = 0.05
        self.client.call("deaf")
        self.client.close()
        with self.assertRaises(ProcessLookupError):
            os.kill(self.client.pid, 0)

    def test_a_closed_client_says_so(self):
        pid = self.client.pid
        self.client.close()
        self.client.close()
        with self.assertRaisesRegex(kazasu.ProgramError, "closed"):
            self.client.call("echo")
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_closing_tells_those_who_wait(self):
        failures = []

        def ask():
            try:
                self.client.call("hang")
            except kazasu.ProgramError as error:
                failures.append(str(error))

        thread = threading.Thread(target=ask)
        thread.start()
        while not seen(self.client, "hang"):
            pass
        self.client.close()
        thread.join()
        self.assertEqual(failures, ["the client is closed"])

    def test_a_client_that_nobody_has_any_more_ends_its_program(self):
        client = kazasu.Client(program=PEER)
        pid = client.pid
        client.info()
        del client
        gc.collect()
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_a_fork_does_not_use_the_client_of_its_parent(self):
        script = (
            "import kazasu, os, sys\n"
            "client = kazasu.Client(program=sys.argv[1])\n"
            "client.info()\n"
            "if os.fork() == 0:\n"
            "    try: client.call('echo')\n"
            "    except kazasu.ProgramError: os._exit(3)\n"
            "    os._exit(0)\n"
            "print(os.waitstatus_to_exitcode(os.wait()[1]), client.call('echo', value=1))\n"
        )
        ended = subprocess.run([sys.executable, "-W", "ignore", "-c", script, PEER], capture_output=True, text=True)
        self.assertEqual((ended.stdout, ended.stderr), ("3 {'value': 1}\n", ""))

    # --- taps -------------------------------------------------------------------------------------------------------

    def put(self, *numbers, client=None):
        (client or self.client).call("taps", events=[event(number) for number in numbers])

    def test_taps_wait_for_the_loop(self):
        taps = self.client.taps(read="balance")
        self.put(1, 2, 3)
        self.assertEqual([next(taps).seq for _ in range(3)], [1, 2, 3])
        self.assertEqual(seen(self.client, "taps.subscribe"), [{"read": "balance"}])
        taps.close()
        self.assertEqual(list(taps), [])

    def test_a_loop_that_ends_ends_the_subscription(self):
        self.client.taps(read="id")
        gc.collect()
        with self.client.taps(read="balance") as taps:
            self.put(1)
            for tap in taps:
                self.assertEqual(tap.tag, EVENT["tag"])
                break
        methods = [name for name, _ in self.client.call("heard") if name.startswith("taps.")]
        self.assertEqual(methods, ["taps.subscribe", "taps.unsubscribe"] * 2)

    def test_two_loops_share_one_subscription(self):
        one, two = self.client.taps(), self.client.taps()
        self.put(1)
        self.assertEqual((next(one).seq, next(two).seq), (1, 1))
        with self.assertRaises(ValueError):
            self.client.taps(read="history")
        one.close()
        self.put(2)
        self.assertEqual(next(two).seq, 2)
        self.assertEqual(len(seen(self.client, "taps.subscribe")), 1)

    def test_taps_begin_after_those_of_other_settings(self):
        """The end of a subscription reports the card that lies there as gone, to a loop that never saw it."""
        with self.client.taps() as taps:
            self.put(1)
            next(taps)
        with self.client.taps(read="balance") as taps:
            self.put(2)
            self.assertEqual(next(taps).seq, 2)

    def interrupt_wait(self, taps):
        """Ctrl-C while somebody waits for a tap."""

        def interrupt(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGUSR1, interrupt)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)

        def wait():
            while not taps._queue.has_waiters:
                pass
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)

        thread = threading.Thread(target=wait)
        thread.start()
        self.addCleanup(thread.join)

    def test_a_loop_that_ctrl_c_ends_is_in_nobody_s_way(self):
        taps = self.client.taps()
        self.interrupt_wait(taps)
        try:
            for _ in taps:
                pass
        except KeyboardInterrupt as error:
            kept = error  # As IPython keeps it.
        with self.client.taps(read="balance") as others:
            self.put(1)
            self.assertEqual(next(others).seq, 1)
        self.assertEqual(seen(self.client, "taps.subscribe"), [{}, {"read": "balance"}])
        # It may be looped over again.
        self.put(2)
        again = threading.Thread(target=lambda: next(taps))
        again.start()
        while len(seen(self.client, "taps.subscribe")) < 3:
            pass
        self.put(3)
        again.join()
        taps.close()
        del kept

    def test_a_block_keeps_its_taps_through_an_interruption(self):
        with self.client.taps() as taps:
            self.interrupt_wait(taps)
            with self.assertRaises(KeyboardInterrupt):
                next(taps)
            self.put(1)
            self.assertEqual(next(taps).seq, 1)
        self.assertEqual(len(seen(self.client, "taps.subscribe")), 1)

    def test_a_loop_whose_body_fails_is_in_nobody_s_way(self):
        def loop():
            for tap in self.client.taps():
                raise ValueError(tap.seq)

        thread = threading.Thread(target=lambda: [seen(self.client, "taps.subscribe"), self.put(1)])
        errors = []
        put = self.client._feed.add

        def add(*arguments):
            answer = put(*arguments)
            thread.start()
            return answer

        self.client._feed.add = add
        try:
            loop()
        except ValueError as error:
            errors.append(error)  # With its traceback.
        thread.join()
        self.client._feed.add = put
        with self.client.taps(read="history") as taps:
            self.put(2)
            self.assertEqual(next(taps).seq, 2)
        self.assertEqual([str(error) for error in errors], ["1"])

    def test_taps_before_the_program_ended_are_not_lost(self):
        taps = self.client.taps()
        self.put(1)
        os.kill(self.client.pid, signal.SIGKILL)
        self.assertEqual(next(taps).seq, 1)
        with self.assertRaisesRegex(kazasu.ProgramError, "signal 9"):
            next(taps)

    def test_a_loop_ends_with_its_client(self):
        taps, found = self.client.taps(), []
        self.put(1)
        thread = threading.Thread(target=lambda: found.extend(tap.seq for tap in taps))
        thread.start()
        while not found:
            pass
        self.client.close()
        thread.join()
        self.assertEqual(found, [1])


class AsyncClientTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        asyncio.get_running_loop().slow_callback_duration = 60  # A busy machine is not worth a warning.
        self.client = kazasu.AsyncClient(program=PEER)
        self.addAsyncCleanup(self.client.aclose)

    async def heard(self, method):
        return [params for name, params in await self.client.call("heard") if name == method]

    async def test_many_tasks_get_their_own_answers(self):
        answers = await asyncio.gather(*(self.client.call("echo", value=number) for number in range(200)))
        self.assertEqual([answer["value"] for answer in answers], list(range(200)))

    async def test_a_cancelled_task_cancels_its_request(self):
        task = asyncio.create_task(self.client.call("hang"))
        while not await self.heard("hang"):
            pass
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        while not await self.heard("$/cancel"):
            pass
        self.assertEqual(await self.client.call("echo", value=1), {"value": 1})

    async def test_a_timeout_cancels_the_request(self):
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.client.call("hang"), 0.05)
        while not await self.heard("$/cancel"):
            pass

    async def test_a_timeout_of_the_client_does_so_too(self):
        async with kazasu.AsyncClient(program=PEER, call_timeout=0.05) as client:
            with self.assertRaises(TimeoutError):
                await client.call("hang")

    async def test_a_program_that_is_killed_is_an_exception(self):
        with self.assertRaisesRegex(kazasu.ProgramError, "signal 9"):
            await self.client.call("die")

    async def test_closing_tells_the_tasks_that_wait(self):
        task = asyncio.create_task(self.client.call("hang"))
        while not await self.heard("hang"):
            pass
        await self.client.aclose()
        with self.assertRaisesRegex(kazasu.ProgramError, "closed"):
            await task

    async def test_progress_comes_in_the_loop(self):
        steps, here = [], threading.get_ident()
        await self.client.call("work", progress=lambda done, total: steps.append((done, total, threading.get_ident())))
        await asyncio.sleep(0)
        self.assertEqual(steps, [(done, 3, here) for done in (1, 2, 3)])

    async def test_a_wait_for_taps_that_is_cancelled_loses_none(self):
        async with self.client.taps() as taps:
            for number in range(20):
                waiting = asyncio.ensure_future(taps.__anext__())
                await asyncio.sleep(0)
                asking = asyncio.create_task(self.client.call("taps", events=[event(number)]))
                waiting.cancel()
                await asking
                if waiting.cancelled():
                    self.assertEqual((await taps.__anext__()).seq, number)
                else:
                    self.assertEqual(waiting.result().seq, number)

    async def test_a_cancelled_loop_is_in_nobody_s_way(self):
        async def loop(taps):
            async for _ in taps:
                pass

        tasks = []
        for settings in ({}, {"read": "history"}, {"read": "balance"}, {}):
            taps = self.client.taps(**settings)
            tasks.append(asyncio.create_task(loop(taps)))  # A task keeps its exception, and with it what it ran.
            while not taps._queue.has_waiters:
                await asyncio.sleep(0)
            tasks[-1].cancel()
            with self.assertRaises(asyncio.CancelledError):
                await tasks[-1]
        self.assertEqual(await self.heard("taps.subscribe"), [{}, {"read": "history"}, {"read": "balance"}, {}])

    async def test_a_wait_for_one_tap_that_takes_too_long_is_no_end(self):
        taps = self.client.taps()
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(taps.__anext__(), 0.05)
        await self.client.call("taps", events=[event(1)])
        self.assertEqual((await taps.__anext__()).seq, 1)
        self.assertEqual(await self.heard("taps.unsubscribe"), [])
        taps.close()

    async def test_async_for_ends_with_the_client(self):
        taps, found = self.client.taps(), []

        async def loop():
            async for tap in taps:
                found.append(tap.seq)

        task = asyncio.create_task(loop())
        await self.client.call("taps", events=[event(1), event(2)])
        while len(found) < 2:
            await asyncio.sleep(0)
        await self.client.aclose()
        await task
        self.assertEqual(found, [1, 2])


class SharedClientTests(unittest.TestCase):
    def setUp(self):
        os.environ["KAZASU_PROGRAM"], before = PEER, os.environ.get("KAZASU_PROGRAM")
        self.addCleanup(lambda: os.environ.update(KAZASU_PROGRAM=before) if before else os.environ.pop("KAZASU_PROGRAM"))
        self.addCleanup(kazasu.close)
        kazasu.close()

    def test_the_functions_share_one_program(self):
        self.assertIs(kazasu.shared(), kazasu.shared())
        with self.assertRaises(kazasu.ProgramError):
            kazasu.balance()
        self.assertEqual(len(seen(kazasu.shared(), "card.balance")), 1)

    def test_a_program_that_was_killed_is_started_again(self):
        with self.assertRaises(kazasu.ProgramError):
            kazasu.shared().call("die")
        self.assertEqual(kazasu.shared().call("echo", value=1), {"value": 1})

    def test_taps_are_for_both_kinds_of_loop(self):
        taps = kazasu.taps()
        kazasu.shared().call("taps", events=[event(1), event(2)])
        self.assertEqual(next(taps).seq, 1)

        async def first():
            async for tap in taps:
                return tap.seq
            return None

        self.assertEqual(asyncio.run(first()), 2)

    def test_an_interpreter_that_ends_ends_the_program(self):
        script = "import kazasu\nprint(kazasu.shared().pid, flush=True)\nkazasu.shared().info()\n"
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        with self.assertRaises(ProcessLookupError):
            os.kill(int(ended.stdout), 0)


class ReasonTests(unittest.TestCase):
    def test_every_reason_of_the_schema_has_its_exception(self):
        docs = pathlib.Path(__file__).resolve().parents[3] / "Docs" / "schemas" / "error.json"
        reasons = json.loads(docs.read_text(encoding="utf-8"))["properties"]["reason"]["enum"]
        self.assertEqual([reason for reason in reasons if reason not in kazasu.REASONS], [])
        for reason, kind in kazasu.REASONS.items():
            self.assertEqual((kind.reason, issubclass(kind, kazasu.KazasuError)), (reason, True))
            self.assertIs(getattr(kazasu, kind.__name__), kind)
            self.assertTrue(kind.__doc__)

    def test_a_star_hides_nothing_of_python_s_own(self):
        names = {}
        exec("from kazasu import *", names)
        self.assertEqual({*names} & {"license", "copyright", *dir(builtins)} - {"__builtins__", "__name__"}, set())
        self.assertLessEqual({"balance", "taps", "Client", "KazasuError", "NoCardError"}, {*names})
        self.assertIs(kazasu.license, kazasu._functions.license)

    def test_python_s_own_exceptions_of_the_same_name_catch_them(self):
        self.assertTrue(issubclass(kazasu.PermissionError, PermissionError))
        self.assertTrue(issubclass(kazasu.InterruptedError, InterruptedError))


if __name__ == "__main__":
    unittest.main()
