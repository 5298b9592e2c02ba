# SPDX-License-Identifier: Apache-2.0
"""The package with the real program on simulated readers."""

import asyncio
import contextlib
import datetime
import gc
import json
import logging
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from stand import FIXTURES, PROGRAM, SUICA, Stand, virtual
from test_documents import leaves, plain

import kazasu

RESIDENCE, PASSPORT = virtual("iso7816/residence/second.json"), virtual("iso7816/passport/card.json")
CLASSIC, SIGNED_TAG = virtual("virtual/classic-1k.json"), virtual("virtual/ntag213-signed.json")
FACE = virtual("iso7816/mynumber/face.json")
# Made by an NTAG 424 DNA with the key of the factory.
SUN = "https://kazasu.example/?uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3"

IDM = "0101031234567890"
LICENSE = virtual("iso7816/license/sample.json")
TAG, EMPTY_TAG = virtual("tags/ntag213.json"), virtual("virtual/ntag213.json")
MASTER = "000102030405060708090A0B0C0D0E0F1011121314151617"
PINS = {"PIN1": "1234", "PIN2": "5678", "PIN": "2222"}


def command(*words, **environment):
    """What the program prints with --json."""
    ended = subprocess.run(
        [PROGRAM, *words, "--json"], capture_output=True, check=False, env={**os.environ, **environment})
    return json.loads(ended.stdout)


class MethodTests(unittest.TestCase):
    """Every method returns the document of its command, with nothing lost."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        # Keys that a card did not confirm are remembered, which another run must not find.
        cls.environment = {"KAZASU_LEDGER": os.path.join(cls.folder.name, "ledger.sqlite"),
                           "XDG_STATE_HOME": cls.folder.name, **PINS}
        cls.client = kazasu.Client(reader=virtual("cards/suica-p1/card.json"), env=cls.environment)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.folder.cleanup()

    def same(self, report, *words, reader=None):
        """A report is the document of a command line; the members of the time of reading may differ."""
        reader = ["--reader", reader or virtual("cards/suica-p1/card.json")] if reader != "" else []
        document = dict(command(*words, *reader, **self.environment))
        mine = dict(report.json)
        for members in (mine, document):
            for name in ("readAt", "reader", "tool"):
                members.pop(name, None)
            # A card of type B has another number each time.
            members["card"] = {**(members.get("card") or {}), "pupi": None}
        self.assertEqual(mine, document)
        self.whole(report)

    def whole(self, report):
        """The data class has all that the document has."""
        self.assertEqual(type(report), kazasu.DOCUMENTS[report.json["schema"]])
        if not isinstance(report, kazasu.CardDump):  # It keeps members of other programs.
            self.assertEqual(leaves(plain(report)), leaves(report.json))

    def test_info(self):
        info = self.client.info()
        version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        self.assertEqual((info.version, kazasu.__version__), (version, version))
        self.assertIn("card.balance", info.methods)

    def test_balance(self):
        self.same(self.client.balance(), "balance")
        self.assertEqual(self.client.balance().balances[0].amount, 10)

    def test_history(self):
        self.same(self.client.history(), "history")
        self.same(self.client.history(kind=["rail"], since="2000-01-01"), "history", "--kind", "rail", "--since", "2000-01-01")
        self.assertEqual(len(self.client.history(kind="rail,bus").records), 17)

    def test_days_are_dates_or_texts(self):
        for day in (datetime.date(2011, 3, 11), datetime.datetime(2011, 3, 11, 12, 0), "2011-03-11"):
            with self.subTest(day=repr(day)):
                report = self.client.history(since=day, until=datetime.date(2011, 3, 12))
                self.assertEqual({record.date for record in report.records}, {"2011-03-11", "2011-03-12"})
                self.assertIsInstance(report.records[0], kazasu.HistoryRecord)

    def test_lite(self):
        genuine, copy = virtual("felica/lite-s-issued.json"), virtual("felica/lite-s.json")
        self.same(self.client.lite_info(reader=genuine), "lite", "info", reader=genuine)
        with kazasu.Client(env={"MASTER": MASTER}) as client:
            report = client.lite_verify(master_key_from="env:MASTER", reader=genuine)
            self.whole(report)
            self.assertTrue(report.genuine)
            with self.assertRaises(kazasu.NotGenuineError) as caught:
                client.lite_verify(master_key_from="env:MASTER", reader=copy)
            self.assertFalse(caught.exception.partial.genuine)

    def test_dump(self):
        dump = self.client.dump()
        self.same(dump, "dump")
        # What one function returns, others take.
        self.assertEqual(self.client.decode(dump).card.idm, IDM)

    def test_poll_and_scan(self):
        self.same(self.client.poll(), "poll")
        self.same(self.client.poll(system=["FE00", "0003"]), "poll", "--system", "FE00,0003")
        self.same(self.client.scan(), "scan")
        self.same(self.client.scan(probe=True), "scan", "--probe")

    def test_read(self):
        self.same(self.client.read("090F", blocks="0-2"), "read", "090F", "--blocks", "0-2")

    def test_raw_commands(self):
        self.same(self.client.felica([f"0C{IDM}"]), "felica", f"0C{IDM}")
        self.same(self.client.apdu(["00A40000", "00A4040C"], reader=LICENSE), "apdu", "00A40000", "00A4040C", reader=LICENSE)

    def test_license(self):
        self.same(self.client.license(free=True, reader=LICENSE), "license", "--free", reader=LICENSE)
        pins = ["--pin1-from", "env:PIN1", "--pin2-from", "env:PIN2"]
        report = self.read_with_pins(lambda client: client.license(pin1_from="env:PIN1", pin2_from="env:PIN2", reader=LICENSE))
        self.same(report, "license", *pins, reader=LICENSE)
        self.assertTrue(report.name)

    def test_mynumber(self):
        authority = FIXTURES / "iso7816/mynumber/authority.bin"
        report = self.read_with_pins(lambda client: client.mynumber(pin_from="env:PIN", ca=authority, reader=FACE))
        self.same(report, "mynumber", "--pin-from", "env:PIN", "--ca", str(authority), reader=FACE)
        self.assertTrue(report.address)
        with self.assertRaises(kazasu.SignatureError):
            self.read_with_pins(lambda client: client.mynumber(pin_from="env:PIN", reader=FACE))

    def secret(self, name, text):
        """Where a secret is: a file."""
        path = pathlib.Path(self.folder.name, name)
        path.write_text(text, encoding="utf-8")
        return f"file:{path}"

    def test_the_face_of_a_my_number_card(self):
        number, authority = self.secret("b", "50060120311234"), FIXTURES / "iso7816/mynumber/authority.bin"
        words = ["mynumber", "--face", "--number-from", number, "--ca", str(authority)]
        report = self.client.mynumber(face=True, number_from=number, ca=[authority], reader=FACE)
        self.same(report, *words, reader=FACE)
        check = self.client.mynumber_check(number, ca=authority, reader=FACE)
        self.assertTrue(check.valid)

    def test_residence(self):
        number, authorities = self.secret("number", "AA12345678BB"), FIXTURES / "iso7816/residence/authorities.pem"
        free = self.client.residence(reader=RESIDENCE)
        self.same(free, "residence", reader=RESIDENCE)
        self.assertIsNone(free.number)
        report = self.client.residence(number_from=number, ca=authorities, reader=RESIDENCE)
        self.same(report, "residence", "--number-from", number, "--ca", str(authorities), reader=RESIDENCE)
        self.assertEqual(report.number, "AA12345678BB")
        self.assertTrue(self.client.residence_check(authorities, number, any_authority=True, reader=RESIDENCE).valid)
        with self.assertRaises(kazasu.ExpiredError) as caught:
            self.client.residence_check(
                authorities, number, any_authority=True, reader=virtual("iso7816/residence/second-expired.json"))
        self.assertFalse(caught.exception.partial.valid)

    def test_passport(self):
        zone, authority = self.secret("mrz", "SP1234567,800405,360614"), FIXTURES / "iso7816/passport/authority.der"
        report = self.client.passport(mrz_from=zone, ca=[authority], reader=PASSPORT)
        self.same(report, "passport", "--mrz-from", zone, "--ca", str(authority), reader=PASSPORT)
        self.assertTrue(self.client.passport_check(authority, mrz_from=zone, reader=PASSPORT).valid)

    def test_passport_files(self):
        zone, authority = self.secret("mrz", "SP1234567,800405,360614"), FIXTURES / "iso7816/passport/chip-authority.der"
        saved = pathlib.Path(self.folder.name, "evidence")
        chip = virtual("iso7816/passport/chip-pace.json")
        command("passport", "--mrz-from", zone, "--save", str(saved), "-r", chip)
        expected = command("passport", "--ca", str(authority), str(saved))
        files = {path.name: path.read_bytes() for path in saved.iterdir()}
        for dump in (saved, files):
            report = self.client.passport_files(dump, ca=authority, require_chip=True)
            self.assertEqual(report.json, expected)
        self.assertEqual(report.chip.state, "genuine")
        self.assertEqual(self.client.passport_files(saved / "DG1.bin").number, "SP1234567")
        with self.assertRaises(kazasu.OtherDocumentError):
            self.client.passport_files(saved, mrz_from=self.secret("other", "SP1234568,800405,360614"))
        with self.assertRaises(kazasu.BadFileError):
            self.client.passport_files({"README": b"notes"})

    def test_classic(self):
        self.secret("keys.txt", "FFFFFFFFFFFF\nA0A1A2A3A4A5\nD3F7D3F7D3F7\n")
        keys = pathlib.Path(self.folder.name, "keys.txt")
        self.same(self.client.classic_info(reader=CLASSIC), "classic", "info", reader=CLASSIC)
        self.same(self.client.classic_dump(keys=keys, reader=CLASSIC), "classic", "dump", "--keys", str(keys), reader=CLASSIC)
        self.same(self.client.classic_read("4-6", keys=[keys], reader=CLASSIC), "classic", "read", "4-6", "--keys", str(keys),
                  reader=CLASSIC)
        self.same(self.client.classic_message(reader=CLASSIC), "classic", "read", "--ndef", reader=CLASSIC)

    def test_standard(self):
        card, keys = virtual("felica/standard-keys.json"), pathlib.Path(FIXTURES, "felica", "standard-keys.txt")
        self.same(self.client.standard_info(reader=card), "standard", "info", reader=card)
        self.same(self.client.standard_info(keys=keys, reader=card), "standard", "info", "--keys", str(keys), reader=card)
        report = self.client.standard_verify(keys=keys, reader=card)
        self.whole(report)
        self.assertTrue(report.genuine)
        other = self.secret("other-keys.txt", "0003 FFFF 0123456789ABCDEF\n0003 0000 6612317B4FD74F39\n"
                            "0003 1000 EFAA8C23162FBB60\n0003 1408 A989255BF6DACD10\n").removeprefix("file:")
        with self.assertRaises(kazasu.NotGenuineError) as caught:
            self.client.standard_verify(keys=other, reader=card)
        self.assertFalse(caught.exception.partial.genuine)

    def test_writing_a_service(self):
        card, keys = virtual("felica/standard-keys.json"), pathlib.Path(FIXTURES, "felica", "standard-keys.txt")
        with kazasu.Client(reader=card) as client:
            data = "00112233445566778899AABBCCDDEEFF"
            shown = client.write("1408", 1, hex=[data], keys=keys, dry_run=True)
            self.whole(shown)
            self.assertFalse(shown.written)
            written = client.write("1408", 1, hex=[data], keys=keys, confirm=client.poll().card.idm)
            self.assertTrue(written.written and written.verified)
            with self.assertRaises(kazasu.KazasuError):
                client.write("1408", 0, hex=[data], keys=keys)

    def test_setting_up_a_tag(self):
        folder = pathlib.Path(FIXTURES, "provision")
        plan, keys = folder / "ntag424-plan.json", folder / "ntag424-keys.txt"
        with tempfile.TemporaryDirectory() as place, kazasu.Client(reader=virtual("virtual/ntag424-factory.json")) as client:
            journal = pathlib.Path(place, "journal")
            shown = client.tag_provision(plan, new_keys=keys, dry_run=True)
            self.whole(shown)
            self.assertFalse(shown.verified)
            made = client.tag_provision(plan, new_keys=keys, journal=journal, confirm=client.poll().card.uid)
            self.assertTrue(made.verified and made.url.startswith("https://kazasu.example/t?p="))
            again = client.tag_resume(journal, new_keys=keys)
            self.assertTrue(all(step.state == "already" for step in again.steps))
            self.assertEqual(client.tag_reset(keys, yes=True, journal=journal.with_suffix(".2")).left, [])

    def test_issuing_a_card(self):
        folder = pathlib.Path(FIXTURES, "provision")
        seller, issued = folder / "standard-seller-keys.txt", folder / "standard-issued-keys.txt"
        profile, blank = folder / "standard-profile.json", virtual("felica/standard-blank.json")
        with tempfile.TemporaryDirectory() as place, kazasu.Client(reader=blank) as client:
            journal = pathlib.Path(place, "journal")
            shown = client.standard_issue(seller, issued, profile, dry_run=True)
            self.whole(shown)
            self.assertFalse(shown.issued)
            number = client.poll().card.idm
            made = client.standard_issue(seller, issued, profile, journal=journal, confirm=number)
            self.assertTrue(made.issued)
            self.assertTrue(client.standard_verify(issued, system="A0B1").genuine)
            again = client.standard_resume(journal, seller, issued)
            self.whole(again)
            self.assertTrue(isinstance(again, type(made)) and again.issued)

    def test_tags_that_are_genuine(self):
        self.same(self.client.tag_verify(reader=SIGNED_TAG), "tag", "verify", reader=SIGNED_TAG)
        with self.assertRaises(kazasu.NoSignatureError):
            self.client.tag_verify(reader=TAG)
        key, seen = self.secret("sun.key", "0" * 32), pathlib.Path(self.folder.name, "seen.tsv")
        self.same_without_card(self.client.tag_verify_url(SUN, key), "tag", "verify", SUN, "--key-from", key)
        self.assertEqual(self.client.tag_verify_url(SUN, key, seen=seen).counter, 6)
        with self.assertRaises(kazasu.ReplayedError):
            self.client.tag_verify_url(SUN, key, seen=seen)

    def test_stations(self):
        found = self.client.stations_lookup(["0-3-13", "9-99-99"])
        self.whole(found)
        self.assertEqual([place.name is None for place in found.places], [False, True])

    def same_without_card(self, report, *words):
        """A report is the document of a command line that has no card."""
        self.assertEqual(dict(report.json), command(*words, **self.environment))
        self.whole(report)

    def read_with_pins(self, read):
        """The variable with a PIN is erased when it is read, so each time has its own program."""
        with kazasu.Client(env=self.environment) as client:
            return read(client)

    def test_tags(self):
        self.same(self.client.tag_info(reader=TAG), "tag", "info", reader=TAG)
        self.same(self.client.tag_read(reader=TAG), "tag", "read", reader=TAG)
        self.same(self.client.tag_pages(pages="0-7", reader=TAG), "tag", "pages", "--pages", "0-7", reader=TAG)

    def test_writing_a_tag(self):
        with kazasu.Client(reader=EMPTY_TAG) as client:
            uid = client.tag_info().card.uid
            written = client.tag_write(text=["Kazasu"], confirm=uid)
            self.whole(written)
            self.assertTrue(written.verified)
            self.assertEqual(client.tag_read().records[0].text, "Kazasu")
            with self.assertRaises(kazasu.KazasuError):
                client.tag_write(text=["Kazasu"], confirm="00000000000000")

    def test_decode(self):
        expected = command("decode", str(SUICA))
        expected.pop("file", None)
        text = SUICA.read_text(encoding="utf-8")
        for dump in (SUICA, text, text.encode(), bytearray(text.encode())):
            report = self.client.decode(dump)
            self.whole(report)
            self.assertEqual({key: value for key, value in report.json.items() if key != "file"}, expected)

    def test_convert(self):
        text = self.client.convert(SUICA, "hex")
        ended = subprocess.run([PROGRAM, "convert", SUICA, "--to", "hex"], capture_output=True, text=True, check=True)
        self.assertEqual(text, ended.stdout)
        self.assertEqual(self.client.decode(text).card.idm, IDM)

    def test_ledger(self):
        with self.assertRaises(kazasu.NoLedgerError):
            self.client.ledger_list()
        self.client.history(keep=True)
        self.same(self.client.ledger_list(), "ledger", "list", reader="")
        self.same(self.client.ledger_sum(by="month"), "ledger", "sum", "--by", "month", reader="")
        self.same(self.client.ledger_gaps(), "ledger", "gaps", reader="")
        self.same_without_card(self.client.ledger_cards(), "ledger", "cards")
        self.assertEqual(len(self.client.ledger_list().records), 20)

    def test_readers(self):
        self.client.poll()
        report = self.client.readers()
        self.whole(report)
        self.assertIn("virtual PN532", [reader.name for reader in report.readers])

    def test_progress(self):
        steps = []
        with open(SUICA, encoding="utf-8") as file:
            card = json.load(file)
        # So many blocks that reading them takes longer than half a second.
        blocks = card["felica"]["systems"][1]["services"][1]["blocks"]
        blocks.update({f"{number:04X}": "00" * 16 for number in range(len(blocks), 400)})
        path = os.path.join(self.folder.name, "long.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(card, file)
        with Stand(path) as stand:
            stand.put("on")
            self.client.dump(reader=stand.id, progress=lambda done, total: steps.append((done, total)))
        # How many there are depends on the speed of the machine.
        self.assertTrue(steps)
        self.assertEqual([done for done, _ in steps], sorted(done for done, _ in steps))
        self.assertEqual({total for _, total in steps}, {None})

    def test_exceptions_have_the_statuses_of_the_program(self):
        described = json.loads(subprocess.run([PROGRAM, "rpc", "--describe"], capture_output=True, check=True).stdout)
        codes = [error["code"] for error in described["components"]["errors"].values()]
        statuses = {-32_000 - code for code in codes if -32_100 < code <= -32_000}
        # No method answers that files differ, or that somebody pressed Ctrl-C.
        self.assertEqual({kind.status for kind in kazasu.REASONS.values()} - {1, 130}, statuses)

    def test_every_method_of_the_program_is_in_python(self):
        described = json.loads(subprocess.run([PROGRAM, "rpc", "--describe"], capture_output=True, check=True).stdout)
        names = [method["name"] for method in described["methods"]]
        self.assertEqual(sorted(names), sorted(self.client.info().methods))
        by_hand = {"initialize": "info", "taps.subscribe": "taps", "taps.unsubscribe": "taps", "readers.list": "readers"}
        for name in names:
            words = name.removeprefix("card.").replace(".", "_")
            function = by_hand.get(name) or re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), words)
            for kind in (kazasu.Client, kazasu.AsyncClient):
                self.assertTrue(callable(getattr(kind, function)), name)
            if function != "info":
                self.assertTrue(callable(getattr(kazasu, function)), name)
                self.assertTrue(getattr(kazasu, function).__doc__, name)


class FailureTests(unittest.TestCase):
    def setUp(self):
        self.client = kazasu.Client(reader=virtual("cards/suica-p1/card.json"))
        self.addCleanup(self.client.close)

    def test_failures_are_the_exceptions_of_their_reasons(self):
        cases = [
            (kazasu.OtherCardError, 76, lambda: self.client.balance(reader=TAG)),
            (kazasu.UnknownReaderError, 64, lambda: self.client.balance(reader="nowhere")),
            (kazasu.UnreadableError, 66, lambda: self.client.balance(reader="virtual:/nowhere")),
            (kazasu.BadFileError, 65, lambda: self.client.decode("hello")),
            (kazasu.UsageError, 64, lambda: self.client.history(since="some day")),
            (kazasu.UsageError, 64, lambda: self.client.call("card.balance", pin="1234")),
        ]
        for kind, status, fail in cases:
            with self.subTest(kind=kind.__name__):
                with self.assertRaises(kind) as caught:
                    fail()
                self.assertEqual(caught.exception.status, status)
                self.assertTrue(caught.exception.message)

    def test_messages_are_in_words_of_python(self):
        cases = [
            ("timeout=SECONDS or timeout=\"forever\" waits longer", None),
            ("kazasu.tag_info() reads this card", lambda: self.client.balance(reader=TAG)),
            ("kazasu.residence() reads this card", lambda: self.client.balance(reader=RESIDENCE)),
            ("kazasu.passport() reads this card", lambda: self.client.balance(reader=PASSPORT)),
            ("kazasu.classic_info() reads this card", lambda: self.client.balance(reader=CLASSIC)),
            ("number_from takes env:NAME", lambda: self.client.residence(number_from="AA12345678BB", reader=RESIDENCE)),
            ("confirm=NUMBER", lambda: self.client.tag_write(text="x", reader=TAG)),
            ("pin1_from takes env:NAME", lambda: self.client.license(pin1_from="1234", reader=LICENSE)),
            ("help(kazasu.history) lists", lambda: self.client.history(since="2020-01-02", until="2020-01-01")),
            ("kazasu.readers() lists", lambda: self.client.balance(reader="nowhere")),
            ("the readers are virtual:", lambda: self.client.balance(reader="nowhere")),
        ]
        with Stand() as stand:
            cases[0] = (cases[0][0], lambda: self.client.balance(reader=stand.id, timeout=0))
            for words, fail in cases:
                with self.subTest(words=words), self.assertRaises(kazasu.KazasuError) as caught:
                    fail()
                self.assertIn(words, str(caught.exception))
                self.assertNotIn("--", str(caught.exception))

    def test_words_of_python_in_the_documentation(self):
        for name in kazasu._functions.__all__:
            text = getattr(kazasu, name).__doc__
            self.assertNotRegex(text, r"--[a-z]|'kazasu |^Print|^Show", name)

    def test_no_card_in_time(self):
        with Stand() as stand:
            for timeout in (0, 0.2):
                with self.assertRaises(kazasu.NoCardError) as caught:
                    self.client.balance(reader=stand.id, timeout=timeout)
                self.assertEqual(caught.exception.status, 75)
                self.assertTrue(caught.exception.hint)

    def test_messages_are_in_the_language_of_the_client(self):
        with kazasu.Client(lang="ja") as client, self.assertRaises(kazasu.UnknownReaderError) as caught:
            client.balance(reader="nowhere")
        self.assertFalse(caught.exception.message.isascii())

    def test_redaction(self):
        with kazasu.Client(reader=virtual("cards/suica-p1/card.json"), redact=True) as client:
            self.assertNotIn(IDM, json.dumps(dict(client.poll().json)))

    def test_a_pin_is_nowhere_to_be_seen(self):
        pin = "7391"
        with tempfile.TemporaryDirectory() as folder, self.assertLogs("kazasu", logging.DEBUG) as logs:
            logging.getLogger("kazasu").info("so that there is a line")
            path = pathlib.Path(folder, "pin1")
            path.write_text(pin, encoding="ascii")
            with kazasu.Client(reader=LICENSE) as client:
                try:
                    text = repr(client.license(pin1_from=f"file:{path}"))
                except kazasu.KazasuError as error:
                    text = f"{error!r} {error} {error.partial!r} {vars(error)}"
                for process in pathlib.Path("/proc").glob("[0-9]*"):
                    with contextlib.suppress(OSError):
                        words = (process / "cmdline").read_bytes().split(b"\0")
                        self.assertNotIn(pin.encode(), words)
                listing = pathlib.Path(f"/proc/{client.pid}/cmdline").read_bytes()
            self.assertNotIn(pin, text)
            self.assertNotIn(pin.encode(), listing)
            self.assertNotIn(pin, "".join(logs.output))

    def test_a_program_that_is_killed_in_a_read_is_an_exception(self):
        with Stand() as stand:
            timer = threading.Timer(0.3, os.kill, (self.client.pid, signal.SIGKILL))
            timer.start()
            with self.assertRaisesRegex(kazasu.ProgramError, "signal 9"):
                self.client.balance(reader=stand.id, timeout=600)
            timer.join()

    def test_a_client_that_is_killed_takes_the_program_with_it(self):
        script = (
            "import kazasu, sys\n"
            "client = kazasu.Client(reader=sys.argv[1])\n"
            "waiting = client._connection.request('card.poll', {'timeout': 'forever'})\n"
            "client.call('initialize')\n"
            "print(client.pid, flush=True)\n"
            "waiting.result()\n"
        )
        with Stand() as stand:
            child = subprocess.Popen([sys.executable, "-c", script, stand.id], stdout=subprocess.PIPE, text=True)
            program = os.pidfd_open(int(child.stdout.readline()))
            self.addCleanup(os.close, program)
            child.kill()
            child.communicate()
            self.assertTrue(select.select([program], [], [], 60)[0], "the program still waits for a card")

    def test_a_cancelled_wait_leaves_the_reader_to_others(self):
        with Stand() as stand:
            client = kazasu.Client(reader=stand.id, call_timeout=0.3)
            self.addCleanup(client.close)
            with self.assertRaises(TimeoutError):
                client.balance(timeout=600)
            client._call_timeout = None
            stand.put("on")
            self.assertEqual(client.balance().balances[0].amount, 10)

    def test_hundreds_of_calls_that_wait_can_be_cancelled(self):
        with Stand() as stand, kazasu.Client(reader=stand.id) as client:
            futures = [client._connection.request("card.poll", {"timeout": "forever"}) for _ in range(300)]
            self.assertIn("card.poll", client.info().methods)
            for future in futures[1:]:
                future.cancel()
            stand.put("on")
            self.assertEqual(futures[0].result()["card"]["idm"], IDM)

    def test_sixteen_threads_at_once(self):
        results, failures = [], []

        def read(number):
            try:
                for turn in range(3):
                    if (number + turn) % 2:
                        results.append(self.client.balance().balances[0].amount)
                    else:
                        results.append(self.client.poll(reader=TAG).card.uid is not None)
            except kazasu.KazasuError as error:
                failures.append(repr(error))

        threads = [threading.Thread(target=read, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual((results.count(10), results.count(True)), (24, 24))


class TapTests(unittest.TestCase):
    def test_a_door(self):
        names = {"012E34E829CE1E71": "Ada", "0101031234567890": "Suica"}
        for card, settings, expected in [
            ("felica/lite-s-issued.json", {"only": names, "only_known": True}, "Ada"),
            ("felica/lite-s-issued.json", {"id_key": "env:MASTER"}, None),
        ]:
            with self.subTest(settings=settings), kazasu.Client(reader=virtual(card), env={"MASTER": MASTER}) as client:
                with client.taps(require_mac="env:MASTER", debounce=1, **settings) as taps:
                    on = next(tap for tap in taps if tap.type == "on")
                self.assertEqual(on.name, expected)
                self.assertEqual(len(on.tag), 16 if expected else 32)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "names.tsv")
            path.write_text(f"{IDM}\tSuica\n", encoding="utf-8")
            with kazasu.Client(reader=virtual("cards/suica-p1/card.json")) as client:
                with client.taps(only=path, phones=True, wildcard=True) as taps:
                    self.assertEqual(next(tap for tap in taps if tap.type == "on").name, "Suica")
                with self.assertRaises(kazasu.UsageError), client.taps(only_known=True):
                    pass

    def test_cards_come_and_go(self):
        with Stand() as stand, kazasu.Client(reader=f"door={stand.id}") as client:
            with client.taps(read="balance") as taps:
                self.assertEqual((next(taps).type, client.closed), ("reader", False))
                for _ in range(2):
                    stand.put("on")
                    on = next(taps)
                    self.assertEqual((on.type, on.tag, on.reader, on.balances[0].amount), ("on", IDM, "door", 10))
                    # A call takes its turn, and the card does not leave for it.
                    self.assertEqual(client.history().records[0].balance, 10)
                    stand.put("off")
                    off = next(taps)
                    self.assertEqual((off.type, off.on, off.seq), ("off", on.id, on.seq + 1))
            with client.taps() as taps:
                stand.put("on")
                self.assertEqual([next(taps).type for _ in range(2)], ["reader", "on"])

    def test_calls_right_after_the_last_tap(self):
        with kazasu.Client(reader=virtual("cards/suica-p1/card.json")) as client:
            for _ in range(3):
                for tap in client.taps():
                    if tap.type == "on":
                        break
                gc.collect()
                self.assertEqual(client.balance().balances[0].amount, 10)

    def test_a_reader_that_is_unknown(self):
        with kazasu.Client() as client, self.assertRaises(kazasu.KazasuError):
            next(client.taps(reader="nowhere"))
        with kazasu.Client() as client, self.assertRaises(kazasu.UsageError):
            next(client.taps(read="everything"))

    def test_a_program_that_is_killed_ends_the_loop_with_an_exception(self):
        with Stand() as stand, kazasu.Client(reader=stand.id) as client:
            taps = client.taps()
            self.assertEqual(next(taps).type, "reader")
            os.kill(client.pid, signal.SIGKILL)
            with self.assertRaises(kazasu.ProgramError):
                for _ in taps:
                    pass


class AsyncTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        asyncio.get_running_loop().slow_callback_duration = 60  # A busy machine is not worth a warning.

    async def test_calls_side_by_side(self):
        readers = [virtual("cards/suica-p1/card.json"), TAG, LICENSE]
        async with kazasu.AsyncClient() as client:
            found = await asyncio.gather(*(client.poll(reader=reader) for reader in readers * 4))
            self.assertEqual([report.card.idm for report in found[::3]], [IDM] * 4)
            with self.assertRaises(kazasu.OtherCardError):
                await client.balance(reader=TAG)
            self.assertEqual((await client.decode(SUICA)).card.idm, IDM)
            self.assertIn(IDM, await client.convert(await client.dump(reader=readers[0]), "hex"))
            self.assertIn("card.poll", (await client.info()).methods)

    async def test_taps_and_a_cancelled_wait(self):
        with Stand() as stand:
            async with kazasu.AsyncClient(reader=stand.id) as client, client.taps() as taps:
                self.assertEqual((await taps.__anext__()).type, "reader")
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(client.balance(timeout=600), 0.2)
                stand.put("on")
                async for tap in taps:
                    self.assertEqual((tap.type, tap.tag), ("on", IDM))
                    self.assertEqual((await client.balance()).balances[0].amount, 10)
                    break


if __name__ == "__main__":
    unittest.main()
