#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kiosk page in headless Chromium before a scripted server (`make test-page`).

CHROMIUM names the browser. SHOTS is a folder for screenshots of every state. HOURS is for how long taps are simulated.
"""

import csv
import glob
import json
import os
import random
import re
import time
import unittest

from mock import PAGE, TOP, Mock, fixture, read
from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SHOTS = os.environ.get("SHOTS")
HOURS = int(os.environ.get("HOURS", "24"))
SIZES = [(800, 480), (390, 844), (1920, 1080), (480, 800)]
# What Chromium itself says of a request that failed; a page cannot prevent it.
NETWORK = re.compile(r"^Failed to load resource: ")

# Every text that can be seen: its element, colours, size, and the rectangles of its characters.
TEXTS = """() => {
  const over = (top, below) => { const a = top[3]; return [0, 1, 2].map((at) => top[at] * a + below[at] * (1 - a)).concat(1); };
  const parse = (colour) => { const n = colour.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n.slice(0, 3), 1] : n; };
  const background = (element) => {
    const chain = [];
    for (let each = element; each; each = each.parentElement) chain.push(parse(getComputedStyle(each).backgroundColor));
    return chain.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  // The box of a line has room for the accents of every script; what counts is where the ink is.
  const canvas = document.createElement("canvas").getContext("2d");
  const seen = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest("script, template, noscript, .spoken")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const style = getComputedStyle(element);
    canvas.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const ink = canvas.measureText(node.data);
    const boxes = [...range.getClientRects()].map(({ left, top, right }) => {
      const baseline = top + ink.fontBoundingBoxAscent;
      return [left, baseline - ink.actualBoundingBoxAscent, right, baseline + ink.actualBoundingBoxDescent];
    });
    if (!boxes.length) continue;
    const panel = element.closest("article")?.getBoundingClientRect();
    const glow = element.closest(".message") && getComputedStyle(element.closest(".message")).backgroundImage.match(/rgb[^)]*\\)/)?.[0];
    seen.push({
      text: node.data, name: element.className || element.id || element.localName, boxes, colour: over(parse(style.color), background(element)),
      backgrounds: [background(element), ...(glow ? [parse(glow)] : [])], size: parseFloat(style.fontSize),
      panel: panel && [panel.left, panel.top, panel.right, panel.bottom], isCut: style.textOverflow === "ellipsis",
      isOverflowing: element.scrollWidth > element.clientWidth + 1 && style.display !== "inline",
    });
  }
  return seen;
}"""

# Everything that a person or a screen reader could find of a card: texts and attributes, but not the script's tables.
CONTENT = """() => [...document.querySelectorAll("html, body, body *")].filter((each) => !each.closest("script, style, svg"))
  .map((each) => [...each.attributes].map(({ value }) => value).concat([...each.childNodes].filter((node) => node.nodeType === 3)
  .map((node) => node.data)).join(" ")).join(" ")"""


def luminance(colour):
    parts = [part / 255 for part in colour[:3]]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


def brands():
    """What the page says of each brand: (English, Japanese, colour) by id."""
    html = read(PAGE, "kiosk.html")

    def table(name, row):
        return re.findall(r'"?([\w-]+)"?: ' + row, re.search(rf"const {name} = \{{(.*?)\n  \}};", html, re.DOTALL).group(1))
    names = {id: (english, japanese) for kind in ("NAMES", "SHORT_NAMES") for id, english, japanese in table(kind, r'\["([^"]*)", "([^"]*)"\]')}
    return {id: (*names[id], colour) for id, colour in table("COLORS", r'"#([0-9a-f]{6})"')}


class PageCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()

    def setUp(self):
        self.mock = Mock()
        self.said = []
        # Set where a test takes the server away.
        self.has_network_errors = False

    def tearDown(self):
        for context in list(self.browser.contexts):
            context.close()
        self.mock.stop()
        said = [text for text in self.said if not (self.has_network_errors and NETWORK.match(text))]
        self.assertEqual(said, [], "the console")

    def open(self, query="?lang=en", size=(800, 480), scheme="light", motion="reduce", clock=False, locale="en-US", wait="waiting",
             script=None):
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion=motion, locale=locale,
            timezone_id="Asia/Tokyo")
        page = context.new_page()
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        if script:
            page.add_init_script(script)
        if clock:
            page.clock.install()
        page.goto(self.mock.url + "/" + query)
        if wait:
            self.state(page, wait)
        if clock:
            page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
        return page

    def state(self, page, state, count=1):
        """Waits until so many panels have a state."""
        self.until(page, "([state, count]) => document.querySelectorAll(`article[data-state='${state}']`).length === count", [state, count])

    def until(self, page, condition, argument=None):
        """Waits for a condition. Playwright's own way evaluates it in the page, which the page's policy forbids."""
        deadline = time.monotonic() + 30
        while not page.evaluate(condition, argument):
            self.assertLess(time.monotonic(), deadline, f"{condition} {argument}: {page.evaluate('document.body.innerText')}")

    def text(self, page, selector):
        return page.locator(selector).first.text_content()

    def handled(self, page, event):
        """Waits until the page has read an event: a reader that is reported after it has appeared."""
        probe = "probe " + event["id"][-6:]
        self.mock.push(f'event: state\ndata: {{"reader": "{probe}", "state": "gone", "on": null}}\n\n')
        self.until(page, "probe => document.body.textContent.includes(probe)", probe)


# The states, and what is announced in each.
STATES = {
    "waiting": ("Touch your card. The balance and the last journeys will appear here",
                "カードをかざしてください。残高とご利用履歴が表示されます"),
    "card": ("Suica. Balance ¥10. Low balance. Last: Aoyama-itchome to Shibuya, −¥160.",
             "Suica。残高 10円。残高が少なくなっています。前回のご利用、青山一丁目から渋谷、−160円。"),
    "read": ("Thank you Taro", "ありがとうございます Taro"),
    "wrong": ("This card cannot be read here. Please try another card, one card at a time",
              "このカードはご利用になれません。ほかのカードを1枚だけかざしてください"),
    "again": ("Please try once more. Hold the card still until the balance appears",
              "もう一度かざしてください。残高が表示されるまで、カードを動かさないでください"),
    "gone": ("No card reader. Connect a reader to this computer", "カードリーダーがありません。リーダーをこのコンピューターに接続してください"),
    "error": ("The card reader is not responding. Unplug it and plug it in again", "カードリーダーが応答しません。一度抜いて、もう一度接続してください"),
    "lost": ("One moment. The connection was lost. Reconnecting", "お待ちください。接続が切れました。再接続しています"),
}


class Looks(PageCase):
    """Every state in both languages, all sizes and both schemes."""

    def enter(self, page, state):
        """Brings a page with one waiting reader into a state."""
        if state == "card":
            self.mock.on("suica-p1")
        elif state == "read":
            self.mock.send(self.mock.event("on", technology="felica", identity="fixed", tag="0101031234567890", name="Taro"))
        elif state in ("wrong", "again"):
            self.mock.unreadable("otherCard" if state == "wrong" else "cardLost")
        elif state in ("gone", "error"):
            self.mock.reader(state=state)
        elif state == "lost":
            self.has_network_errors = True
            self.mock.stop()
        self.state(page, "reader" if state in ("gone", "error") else state)

    def check_layout(self, page, size, where):
        seen = page.evaluate(TEXTS)
        self.assertTrue(seen, where)
        width, height = size
        for each in seen:
            what = f"{where}: {each['name']}: {each['text']}"
            if not each["isCut"]:
                self.assertFalse(each["isOverflowing"], what + " is wider than its box")
                for left, top, right, bottom in each["boxes"]:
                    outer = each["panel"] or [0, 0, width, height]
                    self.assertTrue(left >= outer[0] - 1 and top >= outer[1] - 1 and right <= outer[2] + 1 and bottom <= outer[3] + 1,
                                    f"{what} leaves its panel: {left, top, right, bottom} of {outer}")
            self.assertGreaterEqual(each["size"], 17.9, what + " is too small")
        for at, one in enumerate(seen):
            for other in seen[at + 1:]:
                for a in one["boxes"]:
                    for b in other["boxes"]:
                        wide = min(a[2], b[2]) - max(a[0], b[0])
                        high = min(a[3], b[3]) - max(a[1], b[1])
                        self.assertFalse(
                            not one["isCut"] and not other["isCut"] and wide > 1 and high > 1,
                            f"{where}: “{one['text']}” and “{other['text']}” overlap: {a} {b}")
        sizes = page.evaluate(
            "() => [document.documentElement, document.querySelector('main')].map((e) => [e.scrollWidth, e.clientWidth, e.scrollHeight, e.clientHeight])")
        for scroll_width, client_width, scroll_height, client_height in sizes:
            self.assertLessEqual(scroll_width, client_width, where + " scrolls sideways")
            self.assertLessEqual(scroll_height, client_height, where + " scrolls")
        return seen

    def check_contrast(self, seen, where):
        for each in seen:
            for background in each["backgrounds"]:
                least = 7 if each["name"] in ("amount", "amount unknown") or "amount" in each["name"] else 4.5
                self.assertGreaterEqual(contrast(each["colour"], background), least, f"{where}: {each['name']}: {each['text']}")

    def check_pictures(self, page, where):
        for colour, background in page.evaluate("""() => [...document.querySelectorAll(".message:not([hidden]) svg")].map((each) =>
                [getComputedStyle(each).color, getComputedStyle(each.closest("article")).backgroundColor].map((c) => c.match(/[\\d.]+/g).map(Number)))"""):
            self.assertGreaterEqual(contrast(colour, background), 3, where)

    def test_every_state(self):
        for size in SIZES:
            for scheme in ("light", "dark"):
                for at, language in enumerate(("en", "ja")):
                    self.mock.stop()
                    self.mock = Mock()
                    self.mock.reader()
                    page = self.open(f"?lang={language}", size, scheme)
                    for state, spoken in STATES.items():
                        where = f"{size[0]}x{size[1]}-{scheme}-{language}-{state}"
                        with self.subTest(where):
                            self.enter(page, state)
                            self.until(page, "words => document.querySelector('#spoken').textContent === words", spoken[at])
                            seen = self.check_layout(page, size, where)
                            self.check_contrast(seen, where)
                            self.check_pictures(page, where)
                            self.assertEqual(page.locator("html").get_attribute("lang"), language)
                            if SHOTS:
                                page.screenshot(path=os.path.join(SHOTS, where + ".png"))
                    page.context.close()

    def test_more_sizes_and_several_readers(self):
        names = ["入口", "Counter 2", "acr122_usb:003:005", "rcs380:serial=0123456", "Gate", "Bus"]
        cards = ["suica-p1", "nanaco", "edy", "iruca", "octopus", "mrtj"]
        for size in [(800, 480), (390, 844), (1024, 600), (1280, 800), (1080, 1920), (1920, 1080), (3840, 2160)]:
            for count in (1, 2, 4):
                for language in ("en", "ja"):
                    where = f"{size[0]}x{size[1]}-{language}-{count} readers"
                    if size == (390, 844) and count == 4:
                        continue
                    with self.subTest(where):
                        self.mock.stop()
                        self.mock = Mock()
                        for name in names[:count]:
                            self.mock.reader(name)
                        page = self.open(f"?lang={language}", size, wait=None)
                        self.state(page, "waiting", count)
                        self.check_layout(page, size, where)
                        for name, card in zip(names[:count], cards):
                            self.mock.on(card, name)
                        self.state(page, "card", count)
                        seen = self.check_layout(page, size, where)
                        self.check_contrast(seen, where)
                        if count > 1:
                            self.assertEqual(page.locator("h2").all_text_contents(), names[:count])
                            # Each was said when it came, and the last one since.
                            self.assertIn(names[count - 1] + ": ", self.text(page, "#spoken"))
                            self.check_amounts_stand_side_by_side(page, size, where)
                        else:
                            self.assertTrue(page.locator("h2").first.is_hidden())
                        if SHOTS:
                            page.screenshot(path=os.path.join(SHOTS, where.replace(" ", "-") + ".png"))
                        page.context.close()

    def check_amounts_stand_side_by_side(self, page, size, where):
        found = page.evaluate("""() => [...document.querySelectorAll(".amount:not(.unknown)")].map((each) => {
          const [panel, own] = [each.closest("article"), each].map((part) => part.getBoundingClientRect());
          return [getComputedStyle(each).fontSize, Math.round(own.bottom - panel.top), Math.round(panel.height)]; })""")
        self.assertEqual(len({round(float(size[:-2])) for size, _, _ in found}), 1, f"{where}: sizes of amounts {found}")
        self.assertLessEqual(max(place for _, place, _ in found) - min(place for _, place, _ in found), 1, f"{where}: {found}")

    def test_as_many_journeys_as_fit(self):
        self.mock.reader()
        for size, least in (((390, 844), 5), ((480, 800), 5), ((1920, 1080), 4), ((800, 480), 3)):
            with self.subTest(size):
                page = self.open(size=size)
                self.mock.on("suica-p1")
                self.state(page, "card")
                rows = page.locator("li").count()
                self.assertGreaterEqual(rows, least)
                self.check_layout(page, size, str(size))
                page.context.close()
                self.mock.off()

    def test_a_record_with_an_exit_only(self):
        self.mock.reader()
        for size in SIZES:
            with self.subTest(size):
                page = self.open(size=size)
                self.mock.on("dhaka")
                self.state(page, "card")
                row = page.locator("li", has_text="FDC").first
                self.assertTrue(row.locator(".from").is_hidden())
                tops = [row.locator(name).bounding_box() for name in (".arrow", ".to")]
                if size[0] > size[1]:
                    sum_ = row.locator(".sum").bounding_box()
                    self.assertLess(abs(tops[1]["y"] + tops[1]["height"] - sum_["y"] - sum_["height"]), 3)
                others = page.locator("li").first.locator(".from").bounding_box()
                self.assertAlmostEqual(tops[0]["x"], others["x"], delta=1)
                page.context.close()
                self.mock.off()

    def test_zoomed_in(self):
        for language in ("en", "ja"):
            for count in (1, 2):
                for card in (None, "suica-p1", "octopus"):
                    with self.subTest(f"{language} {count} {card}"):
                        self.mock.stop()
                        self.mock = Mock()
                        for name in ["counter", "exit"][:count]:
                            self.mock.reader(name)
                        page = self.open(f"?lang={language}", (320, 256), wait=None)
                        self.state(page, "waiting", count)
                        if card:
                            for name in ["counter", "exit"][:count]:
                                self.mock.on(card, name)
                            self.state(page, "card", count)
                        seen = page.evaluate(TEXTS)
                        for each in seen:
                            if each["panel"] and not each["isCut"]:
                                for left, top, right, bottom in each["boxes"]:
                                    self.assertTrue(left >= each["panel"][0] - 1 and right <= each["panel"][2] + 1 and
                                                    top >= each["panel"][1] - 1 and bottom <= each["panel"][3] + 1, each)
                        page.context.close()

    def test_two_possible_balances_and_none(self):
        self.mock.reader()
        page = self.open()
        self.mock.on("octopus")
        self.state(page, "card")
        self.assertEqual(self.text(page, ".more"), "The card alone does not tell which")
        self.assertEqual(self.text(page, ".low span"), "Low balance")
        self.mock.on("suica-p1", balances=[{"kind": "transit", "name": "T", "amount": 0, "currency": "JPY", "exponent": 0}])
        self.until(page, "document.querySelector('.low span').textContent === 'No money left'")
        page.click("#language")
        self.assertEqual(self.text(page, ".low span"), "残高がありません")

    def test_a_reader_that_is_not_there(self):
        self.mock.reader("counter")
        self.mock.reader("exit")
        page = self.open("?lang=en&reader=nope", wait="reader")
        self.assertEqual(self.text(page, ".title"), "There is no reader “nope”")
        self.assertEqual(self.text(page, ".message .hint"), "The address of this page names it. The readers are: counter, exit")

    def test_answers_to_a_card(self):
        self.mock.reader()
        page = self.open()
        for answer, words in (("yes", "Accepted"), ("no", "Not accepted"), ("fault", "Please ask for help")):
            with self.subTest(answer):
                on = self.mock.on("suica-p1")
                self.state(page, "card")
                def send(after, **members):
                    self.mock.send(self.mock.event("answer", "counter", ms=40, **{
                        "on": on["id"], "answer": answer, "mono": on["mono"] + after, **members}))
                send(40)
                # That to a card that is not there any more is shown to nobody.
                send(40, on="another", answer="yes")
                # Nor is one that comes late.
                send(2001, answer="no" if answer == "yes" else "yes")
                self.until(page, "words => [...document.querySelectorAll('.answer')].some((one) => !one.hidden && one.textContent === words)",
                           words)
                self.assertEqual(page.locator("article").first.get_attribute("data-answer"), answer)
                self.mock.off()

    def test_an_answer_to_a_card_that_left_is_shown_to_nobody(self):
        self.mock.reader()
        page = self.open()
        on = self.mock.on("suica-p1")
        self.state(page, "card")
        self.mock.off()
        self.mock.send(self.mock.event("answer", "counter", on=on["id"], answer="yes", ms=40, mono=on["mono"] + 40))
        # Whatever follows is shown after that.
        self.mock.on("edy")
        self.until(page, "() => document.querySelector('.brand').textContent.includes('Edy')")
        self.assertIsNone(page.locator("article").first.get_attribute("data-answer"))

    def test_long_names_amounts_and_unknown_balances(self):
        place = {"area": 0, "line": 1, "station": 2, "company": None, "lineName": None,
                 "name": "羽田空港第１・第２ターミナル", "nameEn": "Tokyo International Airport Terminal 3"}
        records = [dict(record, entry=place, exit=place, amount=-12345678) for record in fixture("suica-p1", "history")["records"]]
        long = {"balances": [{"kind": "kmt", "name": "KMT", "amount": 123456789, "currency": "IDR", "exponent": 0}], "records": records,
                "name": "寿限無寿限無五劫のすりきれ海砂利水魚の水行末雲来末風来末"}
        cent = {"balances": [{"kind": "octopus", "name": "O", "amount": -1440, "currency": "HKD", "exponent": 2}], "records": []}
        two = {"balances": fixture("edy", "balance")["balances"] + fixture("nanaco", "balance")["balances"]}
        unknown = {"balances": [{"kind": "ryuto", "name": "Ryuto", "amount": None, "currency": "JPY", "exponent": 0}], "records": []}
        for size in SIZES:
            for language, amounts in (("en", ["Rp123,456,789", "−HK$14.40", "¥10,814", "Balance unknown", "HK$0.60 or −HK$14.40"]),
                                      ("ja", ["Rp123,456,789", "−HK$14.40", "10,814円", "残高は不明です", "HK$0.60 または −HK$14.40"])):
                self.mock.reader()
                page = self.open(f"?lang={language}", size)
                for number, members in enumerate([long, cent, two, unknown, None]):
                    with self.subTest(f"{size} {language} {number}"):
                        self.mock.on("octopus") if members is None else self.mock.on("suica-p1", **members)
                        # The amount itself: what is spoken names no balance that is unknown, so it says no more than the card before.
                        self.until(page, "n => document.querySelector('.amount')?.textContent === n", amounts[number])
                        self.check_layout(page, size, f"{size} {language} {number}")
                        if members is two:
                            self.assertIn("4,676", self.text(page, ".more"))
                page.context.close()

    def test_an_amount_and_its_unit_keep_the_margin(self):
        """Upright, 円 stood in the margin beside three large digits."""
        for size in ((390, 844), (480, 800), (360, 640)):
            for language in ("en", "ja"):
                self.mock.reader()
                page = self.open(f"?lang={language}", size)
                for amount in (5, 41, 414, 4140, 41400, 414000, -414):
                    balance = {"kind": "edy", "name": "Edy", "amount": amount, "currency": "JPY", "exponent": 0}
                    self.mock.on("edy", balances=[balance], records=[])
                    digits = f"{abs(amount):,}"
                    self.until(page, "d => document.querySelector('.amount')?.textContent.includes(d)", digits)
                    left, right, margin = page.evaluate("""() => {
                        const amount = document.querySelector(".amount"), face = amount.closest(".face");
                        const range = document.createRange();
                        range.selectNodeContents(amount);
                        const boxes = [...range.getClientRects()], outer = face.getBoundingClientRect();
                        return [Math.min(...boxes.map((box) => box.left)) - outer.left,
                            outer.right - Math.max(...boxes.map((box) => box.right)), parseFloat(getComputedStyle(face).paddingRight)];
                    }""")
                    with self.subTest(f"{size} {language} {amount}"):
                        self.assertGreaterEqual(left, margin - 1)
                        self.assertGreaterEqual(right, margin - 1)
                page.context.close()

    def test_colours_of_all_brands(self):
        for id, (_, _, colour) in brands().items():
            with self.subTest(id):
                paper = [int(colour[at:at + 2], 16) for at in (0, 2, 4)]
                ink = [13, 13, 12] if luminance(paper) > 0.179 else [255] * 3
                # The waves behind the text are 5 % ink.
                waves = [part * 0.95 + 0.05 * dark for part, dark in zip(paper, ink)]
                for background in (paper, waves):
                    self.assertGreaterEqual(contrast(ink, background), 7)

    def test_every_card_has_a_name(self):
        table = brands()
        with open(glob.glob(os.path.join(TOP, "Sources", "Cards", "CardDecoders", "**", "transit-brands.tsv"), recursive=True)[0]) as file:
            rows = csv.reader((line for line in file if not line.startswith("#")), delimiter="\t")
            head = next(rows)
            for row in rows:
                brand = dict(zip(head, row))
                self.assertEqual(table[brand["brand"]][:2], (brand["english"], brand["japanese"]))
        for path in glob.glob(os.path.join(TOP, "Fixtures", "cards", "*", "balance.json")):
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            for balance in document.get("balances", []):
                self.assertTrue(document["card"]["brand"] in table or balance["kind"] in table, path)


class Behaviour(PageCase):
    def setUp(self):
        super().setUp()
        self.mock.reader()

    def content(self, page):
        return page.evaluate(CONTENT)

    # A card with values that stand nowhere else.
    CARD = {"name": "Taro", "balances": [{"kind": "transit", "name": "Transit IC", "amount": 98765, "currency": "JPY", "exponent": 0}]}

    def check_nothing_of_a_card(self, page):
        content = self.content(page)
        for part in ["Suica", "98,765", "98765", "Aoyama", "Shibuya", "渋谷", "160", "Mar", "0101031234567890", "Taro", "--brand"]:
            self.assertNotIn(part, content)

    def test_nothing_of_a_card_5_seconds_after_it_left(self):
        page = self.open(clock=True)
        self.mock.on("suica-p1", **self.CARD)
        self.state(page, "card")
        self.assertIn("Shibuya", self.content(page))
        for part in ("Taro", "98,765", "--brand"):
            self.assertIn(part, self.content(page))
        page.clock.run_for(15000)
        self.state(page, "card")
        off = self.mock.off()
        self.handled(page, off)
        page.clock.run_for(3000)
        self.state(page, "card")
        page.clock.run_for(1900)
        self.state(page, "waiting")
        self.check_nothing_of_a_card(page)

    def test_another_card_at_once(self):
        page = self.open(clock=True)
        self.mock.on("suica-p1")
        self.state(page, "card")
        self.mock.off()
        self.mock.on("edy")
        self.until(page, "document.querySelector('.brand').textContent === 'Rakuten Edy'")
        # The first card's time to vanish is not the second's.
        page.clock.run_for(15000)
        self.assertEqual(self.text(page, ".brand"), "Rakuten Edy")
        self.assertEqual(self.text(page, ".amount"), "¥10,814")
        self.assertNotIn("Shibuya", self.content(page))

    def test_a_record(self):
        page = self.open("?lang=ja")
        self.mock.on("suica-p1", records=[
            {"date": "2026-03-05", "time": "08:07", "kind": "charge", "amount": 5000, "entry": None, "exit": None},
            {"date": None, "time": None, "kind": "purchase", "amount": -324},
            {"date": "2011-12-31", "time": "23:59", "kind": "bus", "amount": None, "entry": {"name": "本町", "nameEn": None}},
            {"kind": "rail", "amount": -1},
        ])
        self.state(page, "card")
        self.assertEqual(page.locator("li").all_inner_texts()[0].split(), ["3月5日", "08:07", "チャージ", "+5,000円"])
        self.assertEqual(page.locator("li").all_inner_texts()[1].split(), ["お買い物", "−324円"])
        self.assertEqual(page.locator("li").all_inner_texts()[2].split(), ["2011年12月31日", "本町"])
        self.assertGreaterEqual(page.locator("li").count(), 3)
        page.click("#language")
        self.assertEqual(page.locator("li").all_inner_texts()[0].split(), ["5", "Mar", "08:07", "Top-up", "+¥5,000"])
        self.assertEqual(page.locator("li").all_inner_texts()[2].split(), ["31", "Dec", "2011", "本町"])

    def test_what_is_low(self):
        for query, low in (("?lang=en", True), ("?lang=en&low=10", False), ("?lang=en&low=11", True), ("?lang=en&low=x", True)):
            with self.subTest(query):
                page = self.open(query)
                self.mock.on("suica-p1")
                self.state(page, "card")
                self.assertEqual(page.locator(".low").is_visible(), low)
                self.mock.off()
                page.context.close()

    def test_connection_lost_and_back(self):
        self.has_network_errors = True
        page = self.open(script="""addEventListener("DOMContentLoaded", () => {
            window.states = [];
            new MutationObserver(() => { for (const each of document.querySelectorAll("article")) {
                const state = each.dataset.state + " " + each.querySelector(".brand").textContent;
                if (window.states.at(-1) !== state) window.states.push(state); } })
                .observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true, characterData: true });
        });""")
        self.mock.on("suica-p1", **self.CARD)
        self.state(page, "card")
        self.mock.stop()
        self.state(page, "lost")
        self.check_nothing_of_a_card(page)
        # The card lies there all the time.
        self.mock.start()
        self.state(page, "card")
        self.assertEqual(self.text(page, ".brand"), "Suica")
        # It leaves, and another one comes and goes, while the server is away: neither is shown again.
        self.mock.stop()
        self.state(page, "lost")
        page.evaluate("window.states = []")
        self.mock.off(send=False)
        self.mock.event("on", **self.mock.card("edy"))
        self.mock.off(send=False)
        self.mock.start()
        self.state(page, "waiting")
        self.assertEqual([state for state in page.evaluate("window.states") if state.startswith("card")], [])
        # One that came meanwhile and still lies there is.
        self.mock.stop()
        self.state(page, "lost")
        self.mock.event("on", **self.mock.card("nanaco"))
        self.mock.start()
        self.state(page, "card")
        self.assertEqual(self.text(page, ".brand"), "nanaco")
        self.mock.off()
        self.state(page, "waiting")

    def test_a_server_that_has_forgotten(self):
        self.has_network_errors = True
        page = self.open()
        self.mock.on("suica-p1", **self.CARD)
        self.state(page, "card")
        self.mock.stop()
        self.state(page, "lost")
        # Another server, with other readers, at the same address.
        port = self.mock.port
        self.mock = Mock(port=port)
        self.mock.reader("other")
        self.state(page, "waiting")
        self.mock.on("edy", "other")
        self.state(page, "card")
        self.assertEqual(page.locator("article").count(), 1)

    def test_silence_is_a_lost_connection(self):
        page = self.open(clock=True)
        page.clock.run_for(15000)
        self.mock.push(":\n\n")
        self.mock.on("suica-p1", **self.CARD)
        self.state(page, "card")
        page.clock.run_for(19000)
        self.state(page, "card")
        page.clock.run_for(1500)
        self.state(page, "lost")
        self.check_nothing_of_a_card(page)
        page.clock.run_for(1000)
        self.wait_for_requests("/v1/taps", 2)
        for _ in range(100):
            page.clock.run_for(100)
            if page.locator("article[data-state=card]").count():
                break
        self.state(page, "card")

    def wait_for_requests(self, path, count):
        deadline = time.monotonic() + 20
        while sum(each["path"] == path for each in self.mock.requests) < count:
            self.assertLess(time.monotonic(), deadline)

    def test_too_slow(self):
        page = self.open()
        on = self.mock.on("suica-p1")
        self.state(page, "card")
        self.mock.off(send=False)
        self.mock.event("on", **self.mock.card("edy"))
        self.mock.close_streams(f'event: overflow\ndata: {{"after": "{on["id"]}"}}\n\n'.encode())
        self.until(page, "document.querySelector('.brand').textContent === 'Rakuten Edy'")

    def test_readers_come_and_go(self):
        page = self.open()
        self.mock.reader("exit")
        self.state(page, "waiting", 2)
        self.mock.on("suica-p1", "exit")
        self.state(page, "card")
        self.assertTrue(self.text(page, "#spoken").startswith("exit: Suica"))
        self.mock.reader("exit", "gone")
        self.state(page, "reader")
        self.assertNotIn("Suica", page.locator("main").inner_text())
        # Plugged in at another port, under another name.
        self.mock.reader("exit 2")
        self.until(page, "[...document.querySelectorAll('h2')].map((e) => e.textContent).join() === 'counter,exit 2'")
        for number in range(40):
            self.mock.reader(f"many {number}")
        self.until(page, "document.body.textContent.includes('many 39')")
        self.assertLessEqual(page.locator("article").count(), 16)

    def test_one_of_several_readers(self):
        self.mock.reader("exit")
        page = self.open("?lang=en&reader=exit")
        self.mock.on("suica-p1", "counter")
        self.mock.on("edy", "exit")
        self.state(page, "card")
        self.assertEqual(self.text(page, ".brand"), "Rakuten Edy")
        self.assertEqual(page.locator("article").count(), 1)

    def test_no_reader_at_all(self):
        self.mock.readers = {}
        page = self.open(wait="reader")
        self.assertEqual(self.text(page, ".title"), "No card reader")
        self.mock.reader("counter")
        self.state(page, "waiting")

    def test_language(self):
        page = self.open("", locale="ja-JP")
        self.assertEqual(self.text(page, ".title"), "カードをかざしてください")
        page.click("#language")
        self.assertEqual(self.text(page, ".title"), "Touch your card")
        self.assertEqual(page.title(), "Card balance")
        page.reload()
        self.state(page, "waiting")
        self.assertEqual(self.text(page, ".title"), "Touch your card")
        page.goto(self.mock.url + "/?lang=ja")
        self.state(page, "waiting")
        self.assertEqual(self.text(page, ".title"), "カードをかざしてください")
        self.assertEqual(self.text(self.open("", locale="fr-FR"), ".title"), "Touch your card")

    def test_keyboard(self):
        page = self.open()
        names = []
        for _ in range(2):
            page.keyboard.press("Tab")
            names.append(page.evaluate("document.activeElement.id"))
            self.assertEqual(page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid")
            self.assertGreaterEqual(page.evaluate("document.activeElement.getBoundingClientRect().height"), 44)
        self.assertEqual(names, ["sound", "language"])
        page.keyboard.press("Enter")
        self.assertEqual(self.text(page, ".title"), "カードをかざしてください")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Space")
        self.until(page, "document.querySelector('#sound').ariaPressed === 'true'")
        # What a reader types as a keyboard does nothing.
        page.keyboard.type("0101031234567890\nls")
        self.assertEqual(page.locator("html").get_attribute("lang"), "ja")

    def test_screen_reader(self):
        page = self.open()
        spoken = page.locator("#spoken")
        self.assertEqual([spoken.get_attribute(name) for name in ("role", "aria-live", "aria-atomic")], ["status", "polite", "true"])
        self.assertTrue(page.get_by_role("button", name="Sound", pressed=False).is_visible())
        self.assertEqual(page.get_by_role("button", name="日本語").get_attribute("lang"), "ja")
        # The same card twice is announced twice.
        page.evaluate("""() => { window.spoken = []; new MutationObserver(() => window.spoken.push(document.querySelector("#spoken").textContent))
            .observe(document.querySelector("#spoken"), { childList: true, characterData: true, subtree: true }); }""")
        for _ in range(2):
            self.mock.on("edy")
            self.state(page, "card")
            self.mock.off()
            self.state(page, "waiting")
        said = page.evaluate("window.spoken")
        self.assertEqual(len([each for each in said if each.startswith("Rakuten Edy. Balance ¥10,814.")]), 2)
        # What another reader still shows is not said again.
        self.mock.reader("exit")
        self.mock.on("suica-p1")
        self.until(page, "document.querySelector('#spoken').textContent.startsWith('counter: Suica')")
        self.mock.on("edy", "exit")
        self.until(page, "document.querySelector('#spoken').textContent.startsWith('exit: Rakuten Edy')")
        self.assertNotIn("Suica", spoken.text_content())
        self.mock.off("exit")
        self.state(page, "waiting")
        self.assertEqual(spoken.text_content(), "")
        pictures = page.locator("svg:not([aria-hidden=true])").count()
        self.assertEqual(pictures, 0)

    def test_sound(self):
        page = self.open(script="""window.tones = []; const start = OscillatorNode.prototype.start;
            OscillatorNode.prototype.start = function (...rest) { window.tones.push(this.frequency.value); return start.apply(this, rest); };""")
        self.mock.on("edy")
        self.state(page, "card")
        self.assertEqual(page.evaluate("window.tones"), [])
        page.click("#sound")
        self.until(page, "document.querySelector('#sound').ariaPressed === 'true'")
        tones = {}
        for name, send in {"good": lambda: self.mock.on("edy"), "low": lambda: self.mock.on("suica-p1"),
                           "bad": lambda: self.mock.unreadable("cardLost")}.items():
            page.evaluate("window.tones = []")
            send()
            self.until(page, "window.tones.length > 1")
            tones[name] = page.evaluate("window.tones.map(Math.round).join()")
        self.assertEqual(len(set(tones.values())), 3, tones)
        # Remembered, but a page may be heard only after a gesture.
        page.reload()
        self.state(page, "again")
        self.assertEqual(page.locator("#sound").get_attribute("aria-pressed"), "false")
        page.keyboard.press("Shift")
        self.until(page, "document.querySelector('#sound').ariaPressed === 'true'")
        page.click("#sound")
        self.until(page, "document.querySelector('#sound').ariaPressed === 'false'")
        page.evaluate("window.tones = []")
        self.mock.on("edy")
        self.state(page, "card")
        self.assertEqual(page.evaluate("window.tones"), [])
        page.reload()
        self.state(page, "card")
        self.assertEqual(page.evaluate("localStorage.getItem('kazasu.sound')"), "off")

    def test_motion(self):
        self.assertGreater(self.open(motion="no-preference").evaluate("document.getAnimations().length"), 0)
        self.assertEqual(self.open(motion="reduce").evaluate("document.getAnimations().length"), 0)

    def test_policy(self):
        self.has_network_errors = False
        page = self.open()
        policy = page.request.get(self.mock.url).headers["content-security-policy"]
        self.assertNotIn("unsafe", policy)
        self.assertEqual(len(re.findall("sha256-", policy)), 2)
        html = read(PAGE, "kiosk.html")
        self.assertEqual(re.findall(r"\son\w+=|\sstyle=|src=|href=|url\(|@import|innerHTML|insertAdjacentHTML|document\.write|eval\(", html), [])
        self.assertEqual([len(re.findall(rf"<{tag}\b[^>]*>", html)) for tag in ("script", "style")], [1, 1])
        requested = {each["path"] for each in self.mock.requests}
        self.assertLessEqual(requested, {"/", "/v1/taps", "/favicon.ico"})
        # The policy is really in force: what somebody could put into the page does not run.
        page.evaluate("""() => { document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.hit = 1'><p style='color: red'>x</p>");
            const script = document.createElement("script"); script.textContent = "window.hit = 1"; document.body.append(script); }""")
        self.assertIsNone(page.evaluate("window.hit ?? null"))
        self.assertTrue(self.said and all("Content Security Policy" in text for text in self.said), self.said)
        self.said.clear()


class Token(PageCase):
    def setUp(self):
        super().setUp()
        self.mock.stop()
        self.mock = Mock(token="s3cret /+%")
        self.mock.reader()

    def test_token_from_the_address(self):
        page = self.open("?lang=en#token=s3cret%20/+%25")
        self.assertEqual(page.url, self.mock.url + "/?lang=en")
        self.assertNotIn("s3cret", page.content() + page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])"))
        cookie = page.context.cookies()[0]
        self.assertEqual((cookie["httpOnly"], cookie["sameSite"]), (True, "Strict"))
        self.assertEqual([each["path"] for each in self.mock.requests].count("/v1/session"), 1)
        page.reload()
        self.state(page, "waiting")
        # A cookie that is lost is asked for again, as long as the page is open.
        page.goto(self.mock.url + "/?lang=en#token=s3cret%20/+%25")
        page.reload()
        self.state(page, "waiting")

    def test_no_token(self):
        self.has_network_errors = True
        page = self.open(wait="reader")
        self.assertEqual(self.text(page, ".title"), "This page needs its key")
        # Typed into the address of the open page.
        page.evaluate("location.hash = '#token=s3cret%20/+%25'")
        self.state(page, "waiting")
        self.assertEqual(page.url, self.mock.url + "/?lang=en")

    def test_wrong_token(self):
        self.has_network_errors = True
        page = self.open("?lang=en#token=wrong", wait="reader")
        self.assertEqual(self.text(page, ".title"), "This page needs its key")
        self.assertEqual(page.url, self.mock.url + "/?lang=en")

    def test_refused(self):
        self.has_network_errors = True
        self.mock.failures["/v1/taps"] = [3, 421, {}]
        page = self.open("?lang=ja#token=s3cret%20/+%25", wait="reader")
        self.assertEqual(self.text(page, ".title"), "このアドレスでは表示できません")
        self.state(page, "waiting")


class BadInput(PageCase):
    def setUp(self):
        super().setUp()
        self.mock.reader()

    def test_malformed_events(self):
        page = self.open()
        chance = random.Random(26)
        values = [None, True, 0, -1, 1e300, 2**53, "", "x", "__proto__", "constructor", "\0\n\u202e", "a" * 100000, [], [[]], {}, [None] * 5000,
                  {"__proto__": {}}, "<img src=x onerror=alert(1)>", "2026-99-99", "99:99", float("1e15")]

        def spoil(value):
            """A copy with something else somewhere in it."""
            if chance.random() < 0.12:
                return chance.choice(values)
            if isinstance(value, dict):
                return {key: spoil(each) for key, each in value.items()}
            if isinstance(value, list):
                return [spoil(each) for each in value[:4]]
            return value

        template = {"id": "x", "type": "on", "at": "2026-11-24T00:00:00.000+00:00", "reader": "counter", "state": "ready", **self.mock.card("suica-p1")}
        for _ in range(400):
            event = spoil(template)
            if isinstance(event, dict):
                event["reader"] = chance.choice(["counter", "counter", chance.choice(values)])
            for type in ("on", "off", "state", "reader"):
                self.mock.push(f"event: {type}\ndata: {json.dumps(event)}\n\n")
        for data in (b"\xff\xfe\x00\n\n", b"data: {\n\n", b"event: on\ndata: []\n\n", b"data\n\nid: \x00\n\n", b"event: gap\nid: 5\n\n", b"\n" * 5000,
                     b"event: overflow\ndata: {}\n\n", b"event: nonsense\ndata: {\"reader\": \"counter\"}\n\n"):
            self.mock.push(data)
        self.mock.reader()
        self.mock.on("edy")
        self.until(page, "[...document.querySelectorAll('.brand')].some((each) => each.textContent === 'Rakuten Edy')")
        self.assertEqual(page.locator("main img").count(), 0)

    def test_markup_is_text(self):
        page = self.open()
        mark = "<b>bold</b><script>alert(1)</script>"
        self.mock.on("suica-p1", name=mark, balances=[{"kind": "new", "name": mark, "amount": 5, "currency": "<i>", "exponent": 0}],
                     card={"kind": None, "brand": mark}, records=[{"kind": mark, "entry": {"name": mark}, "date": "2026-01-02", "amount": 1}])
        self.state(page, "card")
        self.assertEqual(self.text(page, ".who"), mark)
        self.assertEqual(self.text(page, ".brand"), mark)
        self.assertEqual(self.text(page, ".from"), mark)
        self.assertEqual(page.locator("main b, main script, main i").count(), 0)

    def test_an_event_without_end(self):
        self.has_network_errors = True
        page = self.open()
        for _ in range(5):
            self.mock.push("data: " + "x" * (1 << 20))
        self.state(page, "lost")
        self.state(page, "waiting")


class Module(PageCase):
    """kazasu.js in the browser; its own test runs in Node."""

    def test_module(self):
        self.mock.reader()
        self.mock.on("suica-p1")
        context = self.browser.new_context()
        page = context.new_page()
        page.on("console", lambda message: self.said.append(message.text))
        page.goto(self.mock.url + "/kazasu.js")
        found = page.evaluate("""async () => {
            const { Kazasu, KazasuError } = await import("/kazasu.js");
            const kazasu = new Kazasu();
            const amount = (await kazasu.balance({ timeout: 1 })).balances[0].amount;
            const types = [];
            for await (const event of kazasu.taps()) { types.push(event.type, event.on.tag); break; }
            const gone = new AbortController();
            const late = kazasu.taps({ signal: gone.signal });
            await late.next();
            const waiting = late.next().catch((error) => error.name);
            gone.abort();
            return [amount, types, await waiting, new KazasuError({ reason: "noCard" }).reason];
        }""")
        self.assertEqual(found, [10, ["state", "0101031234567890"], "AbortError", "noCard"])


class Day(PageCase):
    def test_a_day_of_taps_leaves_nothing_behind(self):
        """One tap a minute, by a clock that is moved on: nodes, listeners and heap are the same at noon and at midnight."""
        self.mock.reader()
        page = self.open(clock=True)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")

        def measure():
            """The least of several: what was drawn last is kept until the next frame, and one collection may leave nodes."""
            found = []
            for _ in range(5):
                page.screenshot()
                session.send("HeapProfiler.collectGarbage")
                found.append({each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]})
            names = ("Nodes", "JSEventListeners", "JSHeapUsedSize", "Documents")
            return {name: min(each[name] for each in found) for name in names}

        cards = ["suica-p1", "edy", "nanaco", "octopus", "iruca"]

        def minute(number):
            name = cards[number % len(cards)]
            self.mock.on(name)
            self.state(page, "card")
            page.clock.run_for(2000)
            self.mock.off()
            if number % 7 == 0:
                self.mock.unreadable("otherCard")
                self.state(page, "wrong")
                self.mock.off()
            # Something arrives at least every 20 s; the page must have read it before the clock goes on.
            for part in range(3):
                tick = f"tick {number}.{part}"
                self.mock.push(f'event: state\ndata: {{"reader": "{tick}", "state": "gone", "on": null}}\n\n')
                self.until(page, "tick => document.body.textContent.includes(tick)", tick)
                page.clock.run_for(19000)
            self.state(page, "waiting")

        total = HOURS * 60
        warm = min(60, total // 2)
        for number in range(warm):
            minute(number)
        first = measure()
        for number in range(warm, total):
            minute(number)
            self.mock.events.clear()
        last = measure()
        print(f"page: {total} taps in {HOURS} h of its clock: {first} then {last}")
        self.assertLessEqual(last["Nodes"], first["Nodes"] + 100)
        self.assertLessEqual(last["JSEventListeners"], first["JSEventListeners"] + 2)
        self.assertEqual(last["Documents"], first["Documents"])
        self.assertLess(last["JSHeapUsedSize"], first["JSHeapUsedSize"] + 1_000_000)


if __name__ == "__main__":
    unittest.main()
