#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that neither the compiler nor swift-format checks: one line for each breach.

With --words, it also prints the lines whose English the style guide advises against. They break nothing: a pattern can be wrong.
"""

import ast
import json
import os
import re
import subprocess
import sys

import prose

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
IMPORT = r"^\s*(?:@testable\s+)?(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+"

# (where, where not, pattern, what is wrong); lines that are only a comment do not count.
CODE_RULES = [
    ("Sources/Simulation/", "Sources/Simulation/ReaderTesting/", IMPORT + r"(?:FeliCa|ISO7816)\b",
     "virtual cards and chips must not use the codec that they are there to check"),
    ("Sources/", (), IMPORT + r"Foundation\s*$",
     "full Foundation brings the tables of ICU; FoundationEssentials where that is enough"),
    ("Sources/", "Sources/Readers/PN53xReader/", IMPORT + r"CLibNFC\b", "only PN53xReader imports CLibNFC"),
    ("Sources/", "Sources/Readers/USBTransport/", IMPORT + r"CLibUSB\b", "only USBTransport imports CLibUSB"),
    ("Sources/", "Sources/Readers/PCSCReader/", IMPORT + r"CPCSC\b", "only PCSCReader imports CPCSC"),
    ("Sources/", "Sources/Protocols/CardCrypto/", IMPORT + r"CLibCrypto\b", "only CardCrypto imports CLibCrypto"),
    ("Sources/", ("Sources/Programs/KazasuCLI/", "Sources/Readers/SystemDevices/", "Sources/Services/"), IMPORT + r"CLinux\b",
     "only KazasuCLI, SystemDevices and services import CLinux"),
    ("Sources/", ("Sources/Services/", "Sources/Programs/KazasuServiceCLI/"), IMPORT + r"SharedReaders\b",
     "only services import SharedReaders"),
    ("Sources/", "Sources/Cards/DumpFormatsXML/", IMPORT + r"CExpat\b", "only DumpFormatsXML imports CExpat"),
    ("Sources/", "Sources/Services/", IMPORT + r"CSQLite\b", "only services import CSQLite"),
    ("Sources/", "Sources/Programs/KazasuServiceCLI/Watch/YAML.swift", IMPORT + r"CYAML\b", "only YAML.swift imports CYAML"),
    (("Sources/Cards/", "Sources/Protocols/", "Sources/Products/KazasuReading/", "Sources/Products/KazasuCards/"),
     ("Sources/Cards/ByteCodec/Platform.swift", "Sources/Protocols/ReaderCore/SystemThread.swift"),
     IMPORT + r"(?:Glibc|Musl|Android|Darwin|Foundation|FoundationEssentials)\b",
     "what runs everywhere knows its system in one file a room"),
    (("Sources/Cards/", "Sources/Protocols/", "Sources/Products/KazasuReading/"), None, r"\bUTF8Span\b|\butf8\.span\b|\bInlineArray\b",
     "needs newer systems than Package.swift names"),
    ("Sources/", None, r"\btry!|\bas!|\.(?:first|last|baseAddress|pointee)!", "can trap"),
    ("Sources/", None, r"\b(?:fatalError|preconditionFailure|assertionFailure)\(", "can trap"),
    ("Tests/", "Tests/Bench/", r"(?<!func )\b(?:usleep|nanosleep|sleep)\(|\b(?:Thread|Task)\.sleep", "a test does not sleep"),
]

# Put together so that this file does not match itself.
UNFINISHED = re.compile(r"\b(?:" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b")
MACHINE = re.compile(r"(?:^|[^A-Za-z0-9_.$}])/(?:root|(?:home|tmp)/\w+)/")
# A failure that nobody sees: `make demo` once ended with an error and status 0.
HIDDEN = re.compile(r"\|\|\s*(?:true|:)(?=\s|[;})]|$)|;\s*true\b|\bset \+e\b")
LICENCE = "SPDX-License-Identifier: Apache-2.0"

breaches = []


def breach(path, line, what, text=""):
    """Notes one breach of a rule."""
    breaches.append(f"{path}:{line}: {what}" + (f": {text.strip()[:100]}" if text else ""))


def files():
    """Every text file that is, or is about to be, under version control, as (path, lines)."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        capture_output=True, check=True, cwd=TOP).stdout.decode().split("\0")
    for name in sorted(set(filter(None, names))):
        try:
            with open(os.path.join(TOP, name), encoding="utf-8") as file:
                yield name, file.read().splitlines()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue


def is_script(path, lines):
    """Whether a file is a program of the shell or of Python."""
    return path.endswith(".py") or (bool(lines) and lines[0].startswith("#!"))


def check_swift(path, lines):
    """Imports, traps and sleeps in one Swift file."""
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("//"):
            continue
        for where, but, pattern, what in CODE_RULES:
            if path.startswith(where) and not (but and path.startswith(but)) and re.search(pattern, line):
                breach(path, number, what, line)
        # Without it the name is made of the type's, for which the runtime goes through every conformance, at each start.
        if line.endswith("= CommandConfiguration(") and "commandName:" not in "".join(lines[number:number + 1]):
            breach(path, number, "a command says its name first", line)


def check_failures(path, lines):
    """Nothing that builds, installs or checks hides a failure."""
    for number, line in enumerate(lines, 1):
        ignored = path == "Makefile" and re.match(r"\t@?-", line) and not lines[number - 2].endswith("\\")
        if ignored or HIDDEN.search(line) and not line.lstrip().startswith("#"):
            breach(path, number, "hides a failure", line)


def check_script(path, lines):
    """A script must at least parse."""
    text = "\n".join(lines) + "\n"
    if path.endswith(".py") or "python" in lines[0]:
        try:
            ast.parse(text)
        except SyntaxError as error:
            breach(path, error.lineno, "does not parse")
    elif subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True).returncode:
        breach(path, 1, "does not parse")


# A sentence in an error: it carries cases and values, and is described in one place.
SENTENCE = re.compile(r'\b(?:detail|expected|reason):\s*"[^"\n]*[a-z] [a-z]|\bmalformed\(\s*"')


def check_details(sources):
    """Errors below the command line carry cases and values, no sentences."""
    for path, lines in sources.items():
        if path.startswith("Sources/") and not path.startswith(("Sources/Programs/KazasuCLI/", "Sources/Programs/KazasuCommands/")):
            text = "\n".join(lines)
            for found in SENTENCE.finditer(text):
                breach(path, text.count("\n", 0, found.start()) + 1, "a sentence in an error", found.group(0))


# A public error, where it is declared. What it wraps or gives as a reason has no `Error` of its own.
PUBLIC_ERROR = re.compile(r"^\s*public (?:enum|struct|final class) (\w+)\s*:([^{\n]*)\{", re.MULTILINE)


def check_descriptions(sources):
    """Every public error describes itself: `print(error)` shows a sentence."""
    texts = {path: "\n".join(lines) for path, lines in sources.items() if path.startswith("Sources/")}
    described = {name.rpartition(".")[2] for text in texts.values()
                 for name in re.findall(r"\bextension ([\w.]+)\s*:[^{]*\bSelfDescribing\b", text)}
    for path, text in texts.items():
        for found in PUBLIC_ERROR.finditer(text):
            name, protocols = found.groups()
            if re.search(r"\bError\b", protocols) and "SelfDescribing" not in protocols and name not in described:
                breach(path, text.count("\n", 0, found.start(1)) + 1, f"{name} does not describe itself (SelfDescribing)")


# Turns that are not plain technical English, and what to write instead; only comments, texts and titles count.
WORDS = [
    (r"\bmend(?:s|ed|ing)?\b", "fix, repair"),
    (r"\b(?:anew|afresh)\b", "again"),
    (r"\btells? of\b|\btold of\b", "reports"),
    (r"\bnothing tells\b", "unknown"),
    (r"(?<!\bthere )(?<!\bwhich )\b(?:is|are) no (?!longer\b|more\b|different\b|better\b|worse\b|limit\b)[a-z]", "is not a"),
    (r"\b(?:for|to|of|by|from) who\b|\bwho(?:ever)? (?:uses|reads|asks|departs|calls)\b", "the user, the caller"),
    (r"\bas you said\b|\bit stands\b|\bas they stand\b", "unchanged"),
    (r"\bfor ever\b", "forever"),
    (r"\bin place of being\b", "instead of"),
    (r"\bis told (?:how|what|of|that)\b", "receives, reports"),
    (r"\bsigns? of life\b", "keep-alive"),
    (r"\bnobody (?:answers|agreed)\b", "no response; the user did not"),
    (r"\bcomes? back by itself\b", "reconnects"),
    (r"\bwhich no one\b", "never"),
    (r"\b(?:beside|of|in) that which\b", "what"),
    (r"\bhow many at most\b", "upper bound"),
    (r"\bwhat (?:some|a) \w+ comes? to\b", "total"),
    (r"\btakes? events again\b", "accepts"),
    (r"\w*(?:recognis|colour|behaviour|neighbour|honour|summaris|normalis|initialis|organis)\w*", "American spelling"),
]
WORDS = [(re.compile(pattern, re.IGNORECASE), better) for pattern, better in WORDS]
# A test says what holds: `retriesAfterGarbledAnswer`, not `whoIsNotUnderstoodIsAskedAgain`.
TEST_NAME = re.compile(
    r"\bfunc (?:\w*(?:(?:Is|Are)No[A-Z]|(?:Is|Are)Told|Tells[A-Z]|Mend|Anew)\w*|(?:who|what|whose|whom)[A-Z]\w*|\w+Who[A-Z]\w*)\(")
TEST_TITLE = re.compile(r'@Test\(\s*"(?:What|Who|Whose|Whom)\b')
PROSE = re.compile(r'"((?:[^"\\]|\\.)*)"|(?:^|\s)//(.*)$')


def words(path, lines):
    """Turns in one Swift file that the style guide advises against."""
    is_test = path.startswith("Tests/")
    for number, line in enumerate(lines, 1):
        prose = " ".join(text or comment for text, comment in PROSE.findall(line))
        for pattern, better in WORDS:
            if pattern.search(prose):
                yield f"{path}:{number}: write \"{better}\": {line.strip()[:100]}"
        if is_test and (TEST_NAME.search(line) or TEST_TITLE.search(line)):
            yield f"{path}:{number}: say what holds: {line.strip()[:100]}"


def check_dependencies(sources):
    """Package.swift declares nothing that no file imports."""
    package = json.loads(subprocess.run(
        ["swift", "package", "dump-package"], capture_output=True, check=True, cwd=TOP, text=True).stdout)
    used = set()
    # A test depends on a program so that it is built.
    programs = {target["name"] for target in package["targets"] if target["type"] == "executable"}
    for target in package["targets"]:
        folder = (target.get("path") or "Tests/" + target["name"]) + "/"
        text = "\n".join("\n".join(lines) for path, lines in sources.items() if path.startswith(folder))
        for dependency in target["dependencies"]:
            name, *rest = next(iter(dependency.values()))
            used.update(rest[:1] if "product" in dependency else [])
            if name in programs:
                continue
            if text and not re.search(rf"^\s*(?:@\S+\s+)?(?:\w+ )?import (?:\w+ )?{name}\b", text, re.MULTILINE):
                breach("Package.swift", 1, f"{target['name']} depends on {name}, which it does not import")
    for dependency in package["dependencies"]:
        name = dependency["sourceControl"][0]["identity"]
        if name not in {package.lower() for package in used}:
            breach("Package.swift", 1, f"no target depends on {name}")


# The rooms of Sources in the order of the data: a module imports from its own room and from those before it.
ROOMS = ("C", "Cards", "Protocols", "Readers", "Simulation", "Products", "Services", "Programs")


def check_rooms():
    """Each module lies in one of the eight rooms and depends on none to the right of its own."""
    package = json.loads(subprocess.run(
        ["swift", "package", "dump-package"], capture_output=True, check=True, cwd=TOP, text=True).stdout)
    room = {}
    for target in package["targets"]:
        parts = (target.get("path") or "").split("/")
        if parts[0] == "Sources":
            if len(parts) != 3 or parts[1] not in ROOMS:
                breach("Package.swift", 1, f"{target['name']} lies in none of the rooms")
            else:
                room[target["name"]] = ROOMS.index(parts[1])
    for target in package["targets"]:
        for dependency in target["dependencies"]:
            name = next(iter(dependency.values()))[0]
            if target["name"] in room and room.get(name, 0) > room[target["name"]]:
                breach("Package.swift", 1, f"{target['name']} depends on {name}, which lies in a room to its right")


# A command of the programs: its type and name, and the commands below it.
COMMAND = re.compile(r"(?:struct|enum) (\w+)[^{}]*\{\s*(?:package |public )?static (?:let|var) configuration = CommandConfiguration\(\s*commandName: \"(\w+)\"")
BELOW = re.compile(r"\bsubcommands: \[([^\]]*)\]")
CALLS = "Scripts/commands.tsv"


def commands(sources):
    """The names of the programs' commands that have none below them, as in `tag info`."""
    found, parents = {}, {}
    for path, lines in sources.items():
        if not path.startswith("Sources/Programs/"):
            continue
        text = "\n".join(lines)
        starts = list(COMMAND.finditer(text))
        for start, end in zip(starts, [other.start() for other in starts[1:]] + [len(text)]):
            below = BELOW.search(text[start.end():end])
            names = re.findall(r"(\w+)\.self", below[1]) if below else []
            # The commands of the ledger lie in an extension of it, and have plain names.
            place = re.findall(r"^extension (\w+) \{", text[:start.start()], re.MULTILINE)
            group = place[-1] if place and text[start.start() - 4:start.start()].isspace() else None
            found[(group, start[1])] = (start[2], names)
    for (group, kind), (name, names) in found.items():
        for other in names:
            parents[(kind, other) if (kind, other) in found else (None, other)] = (group, kind)

    def path(key):
        parent = parents.get(key)
        return (path(parent) if parent and found[parent][0] != "kazasu" else []) + [found[key][0]]

    return {" ".join(path(key)) for key, (name, names) in found.items() if not names and name != "kazasu"}


def check_calls(sources):
    """Each command is a public call of the library, too."""
    with open(os.path.join(TOP, CALLS), encoding="utf-8") as file:
        rows = [(number, line.rstrip("\n").split("\t")) for number, line in enumerate(file, 1) if not line.startswith("#")]
    public = public_declarations()
    for number, row in rows:
        # A part of a command has its call and nothing else.
        if len(row) not in (2, 5) or not row[1]:
            breach(CALLS, number, "not a command with its call, card, words and --redact, each - if there is none")
        elif not row[1].startswith("- ") and row[1] not in public:
            breach(CALLS, number, f"{row[0]}: {row[1]} is not public (Docs/api)")
    named = {row[0] for _, row in rows if len(row) == 5}
    for command in sorted(commands(sources) - named):
        breach(CALLS, 1, f"{command} has no public call")


def public_declarations():
    """What Docs/api lists, as `Module Path`."""
    folder = os.path.join(TOP, "Docs", "api")
    names = set()
    for name in os.listdir(folder):
        if name != "products.txt":
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                names.update(line.partition(": ")[0] for line in file)
    return names


def top_declarations():
    """The public types and functions of each module that are in no other type."""
    tops = {}
    for name in public_declarations():
        module, _, path = name.partition(" ")
        if re.match(r"\w+(?:\(|$)", path):
            tops.setdefault(module, set()).add(path)
    return tops


def exported(module, sources):
    """A module and all that it re-exports."""
    names, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            folder = next((path.rpartition(f"/{name}/")[0] + f"/{name}/" for path in sources
                           if path.startswith("Sources/") and path.split("/")[2] == name), None)
            text = "\n".join("\n".join(lines) for path, lines in sources.items() if folder and path.startswith(folder))
            waiting += re.findall(r"^@_exported public import (\w+)", text, re.MULTILINE)
    return names


def check_topics(sources):
    """Every public type and function of a product has a topic on the product's page; that of `Kazasu` has those of `KazasuReading`, too."""
    with open(os.path.join(TOP, "Docs", "api", "products.txt"), encoding="utf-8") as file:
        products = [line.partition(":")[0] for line in file]
    tops = top_declarations()
    for product in products:
        folder = next(path.rsplit("/", 1)[0] for path in sources
                      if path.startswith("Sources/") and path.split("/")[2] == product and path.count("/") == 3)
        page = f"{folder}/{product}.docc/{product}.md"
        with open(os.path.join(TOP, page), encoding="utf-8") as file:
            topics = set(re.findall(r"^- ``(.+)``$", file.read().partition("## Topics")[2], re.MULTILINE))
        modules = exported(product, sources)
        for other in products if product != "Kazasu" else []:
            if other != product and other in modules:
                modules -= exported(other, sources)
        for name in sorted(set().union(*(tops.get(module, set()) for module in modules)) - topics):
            breach(page, 1, f"{name} is in no topic")


# Public enums that no later version adds a case to, and why; all others are @nonexhaustive, so that a new case breaks no program.
CLOSED_ENUMS = {
    "APDULengthForm": "ISO 7816-4 has two", "CardMode": "two bits of the card", "ClassicKeyType": "A and B",
    "CommandClass": "the parts of a PMm", "CompletionKind": "of the programs alone", "ArgumentKind": "of the programs alone",
    "Era": "the digits on a license; a new era is a new law", "JISRun": "known and unknown", "Item": "the four items of the card",
    "Kind": "a node is an area or a service", "LicenseDate": "a date, none, or unreadable", "Option": "the options of an answer's format",
    "SearchedNode": "a node is an area or a service", "SelectAnswer": "ISO 7816-4's P2", "ServiceAccess": "the bits of a service code",
    "ServiceKind": "the bits of a service code", "StandardScheme": "DES and AES", "TriesLeft": "a number, none, or unknown", "TypeNameFormat": "three bits of NDEF",
}


def check_enums(path, lines):
    """A public enum with cases is @nonexhaustive or in the list of those that are closed."""
    for number, line in enumerate(lines):
        found = re.match(r"(\s*)public (?:indirect )?enum (\w+)", line)
        if not found or any("@nonexhaustive" in before for before in lines[max(0, number - 2):number]):
            continue
        body = "\n".join(lines[number:])
        body = body[:body.find("\n" + found[1] + "}")]
        if re.search(rf"^{found[1]}    (?:indirect )?case ", body, re.MULTILINE) and found[2] not in CLOSED_ENUMS:
            breach(path, number + 1, f"{found[2]} is neither @nonexhaustive nor in CLOSED_ENUMS")


def check_partial_results():
    """One way to fail: what can have read a part carries the reason as `error`, and `get()` gives the whole or throws it."""
    public = public_declarations()
    folder = os.path.join(TOP, "Docs", "api")
    for module in sorted(os.listdir(folder)):
        with open(os.path.join(folder, module), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                found = re.match(r"(\S+ \S+)\.error: (?:var|let) error: KazasuError\?", line)
                if found and found[1] + ".get()" not in public:
                    breach("Docs/api/" + module, number, f"{found[1]} has an error and no get()")


# Help is read on the command line only: the texts of pages and of options.
HELP = re.compile(r'"""[^"]*(?:"{1,2}[^"]+)*"""|\bhelp\(\s*(?:[^()"]|"(?:[^"\\\n]|\\.)*"|\([^()]*\))*\)')
NAMED_COMMAND = re.compile(r'(?:\bcaller|\.current|\.commandLine)\.command\(\s*"([a-z ]+)"')


def check_hints(sources):
    """A message names a command by `Caller.command`, which says it as the caller does; and one that there is."""
    known = commands(sources)
    for path, lines in sources.items():
        if not path.startswith("Sources/"):
            continue
        text = HELP.sub(lambda found: "\n" * found[0].count("\n"), "\n".join(lines))
        for number, line in enumerate(text.split("\n"), 1):
            if not line.lstrip().startswith("//") and re.search(r"'kazasu [a-z]", line):
                breach(path, number, "a command as text: Caller.command says it as rpc, HTTP and Python do", line)
        for found in NAMED_COMMAND.finditer(text):
            if found[1] not in known:
                breach(path, text.count("\n", 0, found.start()) + 1, f"no command {found[1]}")


# A failure: its exit status and its reason, which the pages of errors list.
FAILURE = re.compile(r'(?:CommandError|self\.init|ServeError)\(\s*(?:\.\w+,\s*)?\.(\w+),\s*"(\w+)"')
STATUS = re.compile(r"^    case (\w+) = (\d+)$", re.MULTILINE)
REASONS = "Scripts/reasons.tsv"
ERROR_TABLE = "Sources/Programs/KazasuCLI/Errors/Data/errors.tsv"
# Nobody is told these: `diff --exit-code` prints its answer, and a closed pipe has no reader.
SILENT = {"brokenPipe", "differs"}

# Errors outside the table of errors: how many a file may have, and why they are not rows.
OUTSIDE = {
    "KazasuCLI/Errors/CardErrors.swift": (1, "status, reason and remedy are those of the cause"),
    "KazasuCLI/Errors/CommandError.swift": (4, "two have no words, one the signal's status; a bug is reported where the table lacks a row"),
    "KazasuCLI/Errors/ErrorRow.swift": (1, "makes the error of a row"),
    "KazasuCLI/Errors/LibraryErrors.swift": (4, "makes the error of a library's one; a reader's reason has one of seven values, and its own remedy"),
    "KazasuCLI/Options/PINOptions.swift": (1, "the reason is that of the option"),
    "KazasuCommands/Commands/Decode.swift": (2, "status and reason are those of the first file that failed"),
    "KazasuCommands/Commands/Dump.swift": (1, "the reason is why the card refused the keys"),
    "KazasuCommands/Render/DoctorView.swift": (1, "reason and remedy are those of the check that failed"),
    "KazasuServiceCLI/BridgeCommand.swift": (1, "sentence and remedy are those of a check"),
    "KazasuServiceCLI/Ledger/LedgerChanges.swift": (2, "the status is that of the first file that failed"),
}


def check_error_table(sources, statuses):
    """Status, reason, sentence and remedy of an error stand in the table of errors, but for those that OUTSIDE lists."""
    status = rf"(?:\.(?:{'|'.join(statuses)})|status|\w+\.status)"
    remedy = re.compile(r"\bhint(?: =|:)\s*tr\(")
    written = re.compile(rf"(?:CommandError|self\.init)\(\s*(?:{status},|\.\w+,\s*tr\(|[^()\n]*\?[^()]*\btr\()")
    for path, lines in sources.items():
        if not path.startswith("Sources/Programs/"):
            continue
        text = "\n".join(lines)
        found = [text.count("\n", 0, match.start()) + 1 for match in written.finditer(text)]
        most, why = OUTSIDE.get(path.removeprefix("Sources/Programs/"), (0, ""))
        if len(found) > most:
            breach(path, found[-1], f"an error outside of {ERROR_TABLE}" + (f" ({most} may: {why})" if most else ""))
        elif len(found) < most:
            breach("Scripts/lint.py", 1, f"OUTSIDE lists {most} errors of {path}, which has {len(found)}")
        for match in remedy.finditer(text) if not most else ():
            breach(path, text.count("\n", 0, match.start()) + 1, f"a remedy outside of {ERROR_TABLE}")


def check_reasons(sources):
    """Each reason that a failure is written with stands in the table of the pages of errors, with its status."""
    statuses = dict(STATUS.findall("\n".join(sources["Sources/Products/KazasuReading/ExitStatus.swift"])))
    check_error_table(sources, statuses)
    done = subprocess.run([os.path.join(TOP, "Scripts", "errors.py"), "--check"], capture_output=True, text=True, check=False)
    for line in done.stderr.splitlines():
        breach(REASONS, 1, line)
    tables = {}
    for path in (REASONS, ERROR_TABLE):
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            tables[path] = [(number, line.rstrip("\n").split("\t")) for number, line in enumerate(file, 1) if not line.startswith("#")][1:]
    known = {(reason, status) for _, row in tables[REASONS] for reason in row[0].split() for status in row[1].split()}
    written = [(ERROR_TABLE, number, row[2], row[1]) for number, row in tables[ERROR_TABLE] if row[1]]
    for path, lines in sources.items():
        text = "\n".join(lines) if path.startswith("Sources/") else ""
        written += [(path, text.count("\n", 0, found.start()) + 1, found[2], statuses[found[1]])
                    for found in FAILURE.finditer(text) if found[1] in statuses and found[2] not in SILENT]
    for path, number, reason, status in written:
        if (reason, status) not in known:
            breach(path, number, f"{REASONS} lacks {reason} ({status})")


def check_installed_pages():
    """What the pages and the program name is there after an install, too."""
    done = subprocess.run([os.path.join(TOP, "packaging", "scripts", "install-pages.py"), "--check"],
                          capture_output=True, text=True, check=False)
    for line in done.stderr.splitlines():
        breach("packaging/scripts/install-pages.py", 1, line)


def check_lists():
    """The lists that follow from other places are as those places say."""
    done = subprocess.run([os.path.join(TOP, "Scripts", "lists.py"), "--check"], capture_output=True, text=True, check=False)
    for line in done.stderr.splitlines():
        breach("Scripts/lists.py", 1, line)


def check_quirks():
    """The pages of passports that deviate agree with their table."""
    done = subprocess.run([os.path.join(TOP, "Scripts", "quirks.py"), "--check"], capture_output=True, text=True, check=False)
    for line in done.stderr.splitlines():
        breach("Fixtures/ids/passports/quirks.tsv", 1, line)


# A moment, a length or a card's number among the parameters of a public function has a type of its own: a date given as text once made an
# expired certificate valid. The last word of a parameter's label or name says what it is.
MEASURES = ("at begin birth count date days duration end expiry interval length milliseconds moment now number seconds serial since size "
            "time timeout until").split()
MEASURE = re.compile("|".join(rf"^{word}$|[a-z0-9]{word.capitalize()}$" for word in MEASURES))
PARAMETER = re.compile(r"[(,]\s*(?:(\w+) )?(\w+): (?:inout )?\[?(?:String|Substring|Double|U?Int\d*)\b")
# Declarations that may, and why.
MEASURE_EXCEPTIONS = {
    "CalendarDate.init(daysSince2000:)": "makes the type from the number on the card",
    "ClockTime.init(secondsSinceMidnight:)": "makes the type from the number on the card",
    "Timestamp.init(milliseconds:)": "makes the type",
    "HistoryRecord.init(serial:": "the running number of a record, as the card counts",
    "AnswerReader.bytes(_:)": "bytes of an answer that is being parsed",
    "BlockListElement.init(": "a block number of the FeliCa standard",
    "CommandAPDU.read": "Le and record number of ISO/IEC 7816-4",
    "ISO7816Session.read": "Le and record number of ISO/IEC 7816-4",
    "TagKey.init(_:number:)": "a key's number on the tag, 0 to 4",
    "DESFireKey.init(_:number:)": "a key's number in its application, 0 to 13",
    "DESFireFileID.init(_:_:)": "a file's number in its application, 0 to 31",
    "DESFireCard.write(": "bytes and the place of the first",
    "TapEvent.Answer.init(": "milliseconds, as the event has them",
    "Ledger.forgetImport(_:)": "the number that the ledger gave an import",
    "Ledger.keep(": "the text of a dump's own moment",
    "LiteCard.write(_:to:key:)": "a block number of the FeliCa standard",
    "Outbox.Retention.init(": "what people write in settings: days and bytes",
    "InjectedFaults.": "counts exchanges of a simulation",
}


def check_measures():
    """No public parameter that is a moment, a length or a card's number is text or a bare number."""
    folder = os.path.join(TOP, "Docs", "api")
    used = set()
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                declared = re.match(r"\w+ (\S+): .*?\b(?:func|init)\b(.*)", line)
                if not declared:
                    continue
                if not any(MEASURE.search(word) for found in PARAMETER.findall(declared[2]) for word in found if word):
                    continue
                exception = next((start for start in MEASURE_EXCEPTIONS if declared[1].startswith(start)), None)
                if exception:
                    used.add(exception)
                else:
                    breach(f"Docs/api/{name}", number, "a moment, a length or a number without a type of its own", declared[1])
    for unused in MEASURE_EXCEPTIONS.keys() - used:
        breach("Scripts/lint.py", 1, "an exception that nothing needs", unused)


# The version of the program, which CHANGELOG.md decides; packages, man pages and documents take it from there.
OWN_VERSION = re.compile(r'static let version = "([^"]*)"')


def check_version(sources):
    """The program and CHANGELOG.md have the same version."""
    path = "Sources/Programs/KazasuCLI/RootCommand.swift"
    with open(os.path.join(TOP, "CHANGELOG.md"), encoding="utf-8") as file:
        newest = re.search(r"^## (\d+\.\d+\.\d+) \(", file.read(), re.MULTILINE)
    own = OWN_VERSION.search("\n".join(sources[path]))
    if not newest or not own or newest[1] != own[1]:
        breach(path, 1, "not the newest version of CHANGELOG.md")


# What holds on one kind of processor only. Kazasu runs on arm64 as well, where `char` is unsigned, and nothing in it may
# depend on the order of bytes in memory. A name in `__asm__` is that of a C function.
PROCESSOR = re.compile(
    r"#\s*(?:if|elseif|elif)\b.*(?:\barch\(|\b_endian\(|__x86_64__|__amd64__|__aarch64__|__BYTE_ORDER)"
    r"|\b(?:x86_64|immintrin\.h|_mm_\w+|__builtin_ia32_\w+)\b|\basm\s+volatile|__asm__\s+(?:__)?volatile"
    r"|\bCChar\(-|\.(?:load|loadUnaligned|storeBytes)"
    r"\((?!.*Endian).*\bas: *U?Int(?:16|32|64|128)?\.self")
# Files that may, and why.
PROCESSOR_EXCEPTIONS = {
    "Sources/Cards/CardModel/JSON/JSONWriter.swift": "copies eight bytes at once and asks the same of each",
}


def check_processor(path, lines):
    """Nothing in the sources of the programs is for one kind of processor."""
    if not path.startswith("Sources/") or path in PROCESSOR_EXCEPTIONS:
        return
    for number, line in enumerate(lines, 1):
        if not line.lstrip().startswith(("//", "/*", "*")) and PROCESSOR.search(line):
            breach(path, number, "for one kind of processor or order of bytes", line)


def check_third_party(path, lines):
    """What comes from others says its terms, and no archive of the sources has what may not be passed on by itself."""
    if path.endswith(".inc") and not lines[0].startswith("// SPDX-License-Identifier: "):
        breach(path, 1, "no SPDX line on top")
    if path.startswith("ThirdParty/stations/") and path.endswith((".tsv", ".inc")):
        said = subprocess.run(["git", "check-attr", "export-ignore", "--", path], capture_output=True, check=True, cwd=TOP, text=True).stdout
        if not said.endswith(": set\n"):
            breach(".gitattributes", 1, f"archives have {path}")
    elif not path.endswith((".tsv", ".inc")) and os.path.basename(path) not in ("LICENSE", "README.md"):
        breach(path, 1, "only tables lie in ThirdParty")


def main():
    sources = {}
    for path, lines in files():
        if os.path.basename(path) == "LICENSE":
            continue
        if path.startswith("ThirdParty/"):
            check_third_party(path, lines)
        for number, line in enumerate(lines, 1):
            if UNFINISHED.search(line):
                breach(path, number, "unfinished", line)
            if MACHINE.search(line):
                breach(path, number, "a path of one machine", line)
        if path.endswith((".swift", ".c", ".h")) or is_script(path, lines):
            # A shebang and Package.swift's tools version have to be line 1.
            if not any(LICENCE in line for line in lines[:2]):
                breach(path, 1, "no SPDX line on top")
        if is_script(path, lines):
            check_script(path, lines)
        if path.startswith(("packaging/", "Scripts/", ".ci/", "Makefile")) and not path.endswith((".py", ".md", ".tsv")):
            check_failures(path, lines)
        if path.endswith((".swift", ".c", ".h")):
            check_processor(path, lines)
        for number, what in prose.findings(path, lines):
            breach(path, number, what)
        if path.endswith(".swift"):
            sources[path] = lines
            check_swift(path, lines)
            if path.startswith("Sources/"):
                check_enums(path, lines)
    for example in prose.blind():
        breach("Scripts/prose.py", 1, "no pattern finds its example", example)
    check_details(sources)
    check_descriptions(sources)
    check_version(sources)
    check_measures()
    check_dependencies(sources)
    check_calls(sources)
    check_topics(sources)
    check_hints(sources)
    check_reasons(sources)
    check_partial_results()
    check_installed_pages()
    check_quirks()
    check_lists()
    advice = [line for path, lines in sources.items() for line in words(path, lines)]
    if "--words" in sys.argv[1:]:
        print("\n".join(advice))
    print(f"lint: {len(sources)} Swift files, {len(advice)} lines to reword (Scripts/lint.py --words)")
    for line in breaches:
        print(f"lint: {line}", file=sys.stderr)
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
