# SPDX-License-Identifier: Apache-2.0
"""How Kazasu writes: turns that read as translated, sentences that are too long, cells with more than one idea. Part of lint.py.

Documents, help and messages are checked; comments and code are not."""

import re

# English: what reads as translated, what to write instead, and an example that the pattern has to find.
ENGLISH = [
    (r"\bgoes? (?:first|before (?:all|the|them|those))\b", "takes precedence", "a table of your own goes first"),
    (r", too(?=[.;:,)]|$)", "drop it, or \"including …\"", "a copy of UID and signature passes, too"),
    (r", also (?:when|if|after|for|of|in|that|from|by|with|at|over|those|waiting|without)\b",
     "including …, even …", "it is closed, also after an error"),
    (r"\b(?:that|which|there|of which there) (?:is|are) none\b|\b(?:chip|tag|card) has none\b",
     "name what does not exist", "numbers that are none"),
    (r"\bof (?:the|an?|its|your|every|each|this)(?: [\w'-]+){1,2} of (?:the|an?|its|your|every|each|this|all|several)\b",
     "one \"of\": a genitive or a compound", "the certificate of an authority of your country"),
    (r"\b(?:the|an?|every|each|any|no|all|those) [\w-]+ (?:that|which) (?:is|are|was|were) "
     r"(?:put|given|there|used|read|written|shown|known|needed|kept|stored|printed|missing|named|connected|plugged)\b",
     "a noun phrase: the card on the reader, the given keys", "no key that was given fits sector 3"),
    (r"\blies? there\b", "is on the reader", "a card that lies there"),
    (r"\b(?:for|to|from|by|of|with) who(?:ever)? (?:has|uses|reads|wants|knows|calls)\b",
     "users with …", "ten minutes of work for who has a reader"),
    (r"\b(?:that|this|which|it) is said\b|\bis said so\b",
     "a note says so; reports", "a file that exists is replaced, and that is said"),
    (r"\b(?:that|which|never|nothing) counts?(?=[.,;:)]|$)|\bsignatures count\b",
     "is valid, is trusted, is accepted", "a certificate of an authority that counts"),
    (r"(?<!if )\b(?:is|are|was|were) there(?=[.,;:)]|$)",
     "exists; is on the reader; is present", "less when another kind of card is there"),
    (r"\bof (?:your|its|our|their|one's|my) own\b", "your own …, its own …", "a thread of its own"),
    (r"\bthe money on\b", "the balance", "prints the money on the card"),
    (r"\bthe tries left\b", "remaining tries", "reads the tries left first"),
    (r"\bstands? (?:in|on|beside|among|above|below)\b(?! for)", "is in", "the result stands in the table below"),
    (r"\b(?:anew|afresh)\b|\bmend(?:s|ed|ing)?\b|\bfor ever\b|\bas you said\b|\bin place of being\b",
     "again, fix, forever", "make it anew"),
    (r"\b(?:tells?|told) of\b|\bis told (?:how|what|of|that)\b|\bnothing tells\b",
     "reports; receives; unknown", "the log tells of it"),
    (r"(?<!\bthere )(?<!\bwhich )\b(?:is|are) no (?!longer\b|more\b|different\b|better\b|worse\b|limit\b)[a-z]",
     "is not a …", "the number is no secret"),
    (r"\bthat (?:is|are|was|were)\b[^.;:|]*\bthat (?:is|are|was|were)\b",
     "one \"that is\" a sentence", "a card that is found in a field that is on"),
    (r"\b(?:each|every|any) (?:card|event) that comes?\b|\bcard that comes and goes\b",
     "placed on or removed from a reader", "a line for every card that comes"),
    (r"\bcould not be asked for\b|\bgive more of it\b|\bin no total\b|\baccepts [\w ]+ no more\b",
     "cannot ask for …; no longer", "PIN 1 could not be asked for: no terminal"),
]

# Japanese: one word for one thing, and turns that can be misread; with an example as well.
JAPANESE = [
    (r"終了コード", "終了ステータス", "終了コードは 64"),
    (r"メモリ(?!ー)", "メモリー", "メモリに保持"),
    (r"わか(?:る|ら|り|れ|っ)", "分か…", "番号からわかる"),
    (r"証明書 ?\d+ ?枚|\d+ ?枚の証明書", "証明書 n つ", "証明書 3 枚"),
    (r"でないこと、[^。]*(?:ない|いない)こと", "…かどうか", "複製でないこと、紛失届が出ていないこと"),
    (r"最初に使える", "使えるもののうち最初に見つかった…", "最初に使えるもの"),
    (r"[0-9A-Fa-z円]〜 ?[0-9A-Fa-z]", "～", "鍵 0〜4"),
    (r"種類の違うカード", "対象外のカード、種類の異なるカード", "種類の違うカード"),
]

# What a pattern finds and is right: where, the words, and why.
ALLOWED = [
    ("Sources/Simulation/ReaderTesting/ISO14443Conformance.swift", "the page that was written", "there are other pages"),
    ("Sources/Programs/KazasuServiceCLI/BridgeCommand.swift", "is there", "a card in a virtual slot, not on a reader"),
    ("Sources/Readers/ReaderDiagnosis/UdevRules.swift", "of its own", "a comment in the generated rules"),
]

# The longest sentence and the longest cell of a table, in words.
SENTENCE = CELL = 30
# Pages whose cells may be longer, and why.
LONG_CELLS = {
    "Docs/cards.md": "a fact is read with its limits",
}

PATTERNS = {language: [(re.compile(pattern, re.IGNORECASE), better) for pattern, better, _ in patterns]
            for language, patterns in (("en", ENGLISH), ("ja", JAPANESE))}
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')

def is_document(path):
    """Whether a file is a page for readers."""
    return path.endswith(".md") and ("/" not in path or path.startswith("Docs/"))

def prose(path, lines):
    """The lines of a document without its examples, code and targets of links: (number, text)."""
    in_example = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            in_example = not in_example
        elif not in_example:
            yield number, re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "`x`", line))

def texts(lines):
    """The strings of a Swift file: (number, text)."""
    in_text = False
    for number, line in enumerate(lines, 1):
        if line.count('"""') == 1:
            in_text = not in_text
        elif in_text:
            yield number, line.strip()
        elif not line.lstrip().startswith("//"):
            for text in STRING.findall(line.split(" // ")[0]):
                yield number, text

def sentences(path, lines):
    """The sentences and cells of a document: (number, kind, text)."""
    paragraph, begun = "", 1
    for number, line in [*prose(path, lines), (0, "")]:
        text = line.strip()
        if text.startswith("|"):
            yield from ((number, "cell", cell) for cell in re.split(r"(?<!\\)\|", text)[1:-1])
            text = ""
        if paragraph and (not text or re.match(r"(?:[-*#]|\d+\.) ?", text)):
            yield from ((begun, "sentence", each) for each in re.split(r"(?<=[.!?:;])[*)\"]*\s+", paragraph))
            paragraph = ""
        if not paragraph:
            begun = number
        paragraph = f"{paragraph} {text}".strip()

def findings(path, lines):
    """What is to be reworded in one file: (number, what)."""
    if is_document(path):
        language, found = "ja" if path.endswith(".ja.md") else "en", prose(path, lines)
        for number, kind, text in sentences(path, lines) if language == "en" else ():
            if len(text.split()) > (CELL if kind == "cell" else SENTENCE) and not (kind == "cell" and path in LONG_CELLS):
                yield number, f"a {kind} of {len(text.split())} words: {text.strip()[:60]}"
    elif path.startswith("Sources/") and path.endswith(".swift"):
        language, found = None, texts(lines)
    else:
        return
    for number, text in found:
        # A text of the program may be in either language.
        for pattern, better in [each for name, patterns in PATTERNS.items() if language in (None, name) for each in patterns]:
            match = pattern.search(text)
            if match and not any(path == where and words in text for where, words, _ in ALLOWED):
                yield number, f"write \"{better}\", not \"{match[0]}\""

def blind():
    """The examples that their patterns do not find."""
    return [example for pattern, _, example in ENGLISH + JAPANESE if not re.search(pattern, example, re.IGNORECASE)]
