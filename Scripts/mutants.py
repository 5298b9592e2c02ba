#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes one operator or constant at a time and runs the tests: what no test notices is a survivor.

All changes are compiled into one build, each behind a number that an environment variable chooses, in a package that holds only
the modules that need no C library, and their tests. A record of which test suite reaches which change keeps the runs short: a
change that no suite reaches survives at once, the others run the suites that reach it, those of their own module first.

Not part of CI: the first build takes minutes, a change about a second. Everything is kept below .build-mutants."""

import argparse
import collections
import glob
import concurrent.futures
import hashlib
import json
import mmap
import os
import random
import re
import shutil
import subprocess
import sys
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
WORK = os.path.join(TOP, ".build-mutants")
PACKAGE = os.path.join(WORK, "package")
EQUIVALENT = os.path.join(TOP, "Scripts", "mutants", "equivalent.tsv")
MODULES = ["ByteCodec", "CardModel", "FeliCa", "ISO7816", "ISODEP", "CardDecoders"]
# What the tests of these modules need beside them.
HELPERS = ["CardCiphers", "ReaderCore", "NDEF", "NFCForumTags", "VirtualCards", "VirtualChips", "VirtualReader",
           "CardReading", "SystemDevices", "TestSupport", "ReaderTesting", "Arrivals"]
# Those of them that are a part of the tests.
TEST_HELPERS = ["TestSupport", "Arrivals"]
# Not run: they test none of these modules.
LEFT_OUT = ["SystemDevicesTests", "VirtualReaderTests"]

# An operator: the group that binds it, what its operands must be, and what it is changed to.
ADD, MULTIPLY, SHIFT = "AdditionPrecedence", "MultiplicationPrecedence", "BitwiseShiftPrecedence"
INFIX = {
    "+": (ADD, "AdditiveArithmetic", "-"), "-": (ADD, "AdditiveArithmetic", "+"),
    "*": (MULTIPLY, "Numeric", "+"), "/": (MULTIPLY, "BinaryInteger", "*"), "%": (MULTIPLY, "BinaryInteger", "/"),
    "&+": (ADD, "FixedWidthInteger", "&-"), "&-": (ADD, "FixedWidthInteger", "&+"),
    "&*": (MULTIPLY, "FixedWidthInteger", "&+"),
    "|": (ADD, "BinaryInteger", "&"), "^": (ADD, "BinaryInteger", "&"), "&": (MULTIPLY, "BinaryInteger", "|"),
}
COMPARE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
SHIFTS = {"<<": ">>", ">>": "<<"}
ASSIGN = {"+=": ("AdditiveArithmetic", "-="), "-=": ("AdditiveArithmetic", "+="), "*=": ("Numeric", "+="),
          "|=": ("BinaryInteger", "&="), "&=": ("BinaryInteger", "|="), "^=": ("BinaryInteger", "|="),
          "&+=": ("FixedWidthInteger", "&-="), "&-=": ("FixedWidthInteger", "&+=")}
DIGITS = "←↑→↓↔↕↖↗↘↙"

Site = collections.namedtuple("Site", "number module file line column old new text key")


# --- finding what can be changed --------------------------------------------------------------------------------------

def blank(source):
    """The source with comments, strings and regular expressions blanked out, place by place."""
    out = list(source)

    def wipe(start, end):
        for index in range(start, end):
            if out[index] != "\n":
                out[index] = " "

    at = 0
    while at < len(source):
        if source.startswith("//", at):
            end = source.find("\n", at)
            end = len(source) if end < 0 else end
        elif source.startswith("/*", at):
            depth, end = 1, at + 2
            while depth and end < len(source):
                step = {"/*": 1, "*/": -1}.get(source[end:end + 2], 0)
                depth += step
                end += 2 if step else 1
        elif match := re.compile(r'(#*)("""|")').match(source, at):
            end = string_end(source, match)
        else:
            at += 1
            continue
        wipe(at, end)
        at = end
    return "".join(out)


def string_end(source, match):
    """The end of a string literal, whatever is interpolated."""
    hashes, quote = match.group(1), match.group(2)
    at, depth = match.end(), 0
    while at < len(source):
        if source.startswith("\\" + hashes + "(", at) and depth == 0:
            depth, at = 1, at + len(hashes) + 2
        elif depth:
            if inner := re.compile(r'(#*)("""|")').match(source, at):
                at = string_end(source, inner)
                continue
            depth += {"(": 1, ")": -1}.get(source[at], 0)
            at += 1
        elif source.startswith("\\" + hashes, at):
            at += len(hashes) + 2
        elif source.startswith(quote + hashes, at):
            return at + len(quote + hashes)
        else:
            at += 1
    return at


TOKEN = re.compile(
    r"(?P<number>(?<![\w.$])(?:0x[0-9A-Fa-f_]+|0b[01_]+|[0-9][0-9_]*)(?![\w]|\.[0-9]))"
    r"|(?P<word>\b(?:true|false)\b)"
    r"|(?P<not>(?<=[\s(\[{,:])!(?=[\w(.]))"
    r"|(?P<range>(?<=[\w)\]])(?:\.\.<|\.\.\.)(?=[\w(\-.]))"
    r"|(?P<infix>(?<=\s)(?:[-+*/%|^&<>=!]+)(?=\s))")
SKIPPED_LINE = re.compile(
    r"^\s*(?:@|#|import\b|\w+ import\b|(?:prefix |infix |postfix )?operator\b|precedencegroup\b"
    r"|(?:indirect )?case\s+`?\w+`?\s*=[^=]|case\s+\w+\(\w+: \w+ = )")


def changed_number(text):
    """The number beside this one: one more, or one less where a type ends."""
    digits = text.replace("_", "")
    value = int(digits, 0) if digits.startswith(("0x", "0b")) else int(digits)
    value += -1 if value in (0x7F, 0xFF, 0x7FFF, 0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF) else 1
    return hex(value) if digits.startswith("0x") else bin(value) if digits.startswith("0b") else str(value)


def change(kind, text):
    """What an operator or constant is changed to, `None` for those that stay."""
    if kind == "number":
        return changed_number(text)
    if kind == "word":
        return "false" if text == "true" else "true"
    if kind == "not":
        return ""
    if kind == "range":
        return "..." if text == "..<" else "..<"
    if text in INFIX:
        return INFIX[text][2]
    if text in ASSIGN:
        return ASSIGN[text][1]
    return {**COMPARE, **SHIFTS, "&&": "||", "||": "&&"}.get(text)


def sites_of(module, path, number):
    """The places of a file that can be changed."""
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        source = file.read()
    lines = source.split("\n")
    if len(lines) > 1 and lines[1].startswith("// Generated"):
        return []
    found, seen = [], collections.Counter()
    for index, line in enumerate(blank(source).split("\n")):
        if SKIPPED_LINE.match(line):
            continue
        tokens = list(TOKEN.finditer(line))
        # A table in code: too much for the type checker.
        if sum(token.lastgroup == "number" for token in tokens) > 12:
            continue
        for token in tokens:
            new = change(token.lastgroup, token.group())
            if new is None or line[:token.start()].endswith("func ") or is_single(line, token):
                continue
            text = lines[index].strip()
            base = "\t".join([path, text, token.group(), new])
            seen[base] += 1
            key = hashlib.sha1(f"{base}\t{seen[base]}".encode()).hexdigest()[:16]
            found.append(Site(number + len(found), module, path, index + 1, token.start(), token.group(), new, text, key))
    return found


def is_single(line, token):
    """Whether it is the operator of a range from a number to itself, which cannot be shorter."""
    before, after = re.search(r"[\w.]+$", line[:token.start()]), re.match(r"[\w.]+", line[token.end():])
    return token.group() == "..." and before and after and before.group() == after.group()


def folder_of(module):
    """Where a module lies: in one of the rooms of Sources, or among the tests."""
    if module in TEST_HELPERS:
        return f"Tests/{module}"
    return os.path.relpath(glob.glob(os.path.join(TOP, "Sources", "*", module))[0], TOP)


def all_sites():
    """Every place that can be changed, numbered from 1."""
    sites = []
    for module in MODULES:
        for folder, _, names in sorted(os.walk(os.path.join(TOP, folder_of(module)))):
            for name in sorted(names):
                if name.endswith(".swift"):
                    path = os.path.relpath(os.path.join(folder, name), TOP)
                    sites += sites_of(module, path, len(sites) + 1)
    return sites


# --- one build with all of them ---------------------------------------------------------------------------------------

def mark(number):
    """A number in characters that an operator may have."""
    return "".join(DIGITS[int(digit)] for digit in str(number))


def declaration(site):
    """The operator that stands for this place, and what it does."""
    old, hit = site.old, f"kzHit({site.number})"
    name = old + mark(site.number)

    def pair(bound, result):
        return f"public func {name} <T: {bound}>(a: T, b: T) -> {result} {{ {hit} ? a {site.new} b : a {old} b }}\n"

    if old == "!":
        return f"prefix operator {name}\npublic prefix func {name} (a: Bool) -> Bool {{ {hit} ? a : !a }}\n"
    if old in INFIX:
        text = f"infix operator {name} : {INFIX[old][0]}\n" + pair(INFIX[old][1], "T")
        if old == "+":
            text += (f"public func {name} <T: RangeReplaceableCollection>(a: T, b: T) -> T "
                     f"{{ {hit} ? a : a + b }}\n")
        return text
    if old in SHIFTS:
        return (f"infix operator {name} : {SHIFT}\npublic func {name} <T: BinaryInteger, U: BinaryInteger>(a: T, b: U) -> T "
                f"{{ {hit} ? a {site.new} b : a {old} b }}\n")
    if old in COMPARE:
        text = f"infix operator {name} : ComparisonPrecedence\n"
        if old in ("==", "!="):
            text += (f"@_disfavoredOverload public func {name} <T>(a: T?, b: _OptionalNilComparisonType) -> Bool "
                     f"{{ {hit} ? a {site.new} nil : a {old} nil }}\n")
            return text + pair("Equatable", "Bool")
        return text + pair("Comparable", "Bool")
    if old in ASSIGN:
        return (f"infix operator {name} : AssignmentPrecedence\npublic func {name} <T: {ASSIGN[old][0]}>(a: inout T, b: T) "
                f"{{ if {hit} {{ a {site.new} b }} else {{ a {old} b }} }}\n")
    if old in ("&&", "||"):
        group = "LogicalConjunctionPrecedence" if old == "&&" else "LogicalDisjunctionPrecedence"
        either = ["a ? try b() : false", "a ? true : try b()"]
        (then, other) = either if old == "||" else reversed(either)
        return (f"infix operator {name} : {group}\npublic func {name} <E: Error>(a: Bool, b: @autoclosure () throws(E) -> Bool) "
                f"throws(E) -> Bool {{ if {hit} {{ return {then} }} else {{ return {other} }} }}\n")
    result = "Range" if old == "..<" else "ClosedRange"
    changed = "a..<(b + 1)" if old == "..<" else "b > a ? a...(b - 1) : a...b"
    return (f"infix operator {name} : RangeFormationPrecedence\npublic func {name} <T: FixedWidthInteger>(a: T, b: T) -> "
            f"{result}<T> {{ if {hit} {{ return {changed} }} else {{ return a{old}b }} }}\n")


SUPPORT = """import Glibc

nonisolated(unsafe) private let reached: UnsafeMutablePointer<UInt8>? = {
    guard let path = getenv("KZ_RECORD") else { return nil }
    let descriptor = open(path, O_RDWR)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { return nil }
    let memory = mmap(nil, Int(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    return memory?.assumingMemoryBound(to: UInt8.self)
}()
private let active: Int = getenv("KZ_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

public func kzHit(_ number: Int) -> Bool {
    if let reached { reached[number] = 1 }
    return number == active
}
"""
VALUE = "public func kzValue<T>(_ number: Int, _ value: T, _ other: T) -> T { kzHit(number) ? other : value }\n"


def write(path, text):
    """Writes a file unless it is so already: what is older is not compiled again."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except FileNotFoundError:
        pass
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def changed_source(path, sites):
    """A file with all of its changes in it."""
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    for site in sorted(sites, key=lambda site: (site.line, -site.column)):
        line = lines[site.line - 1]
        end = site.column + len(site.old)
        if site.old[0].isdigit() or site.old in ("true", "false"):
            new = f"kzValue({site.number}, {site.old}, {site.new})"
        else:
            new = site.old + mark(site.number)
        lines[site.line - 1] = line[:site.column] + new + line[end:]
    return "\n".join(lines)


def manifest(names, tests):
    """Package.swift of the smaller package, from what the real one says."""
    dump = json.loads(subprocess.run(
        ["swift", "package", "dump-package"], cwd=TOP, capture_output=True, check=True, text=True).stdout)
    targets = ['.target(name: "MutantSupport")']
    for target in dump["targets"]:
        name = target["name"]
        if name not in names + tests:
            continue
        needs = [one["byName"][0] for one in target["dependencies"] if "byName" in one]
        needs += ["MutantSupport"] if name in MODULES else []
        path = target.get("path") or f"Tests/{name}"
        tables = ", ".join(f'.embedInCode("{one["path"]}")' for one in target["resources"])
        features = [one["kind"]["enableUpcomingFeature"]["_0"] for one in target["settings"]
                    if "enableUpcomingFeature" in one["kind"]]
        settings = ", ".join(f'.enableUpcomingFeature("{one}")' for one in features)
        targets.append(
            f'.{"testTarget" if name in tests else "target"}(name: "{name}", dependencies: {json.dumps(needs)}, '
            f'path: "{path}", resources: [{tables}], swiftSettings: [{settings}])')
    return ("// swift-tools-version: 6.2\nimport PackageDescription\nlet package = Package(name: \"mutants\", targets: [\n    "
            + ",\n    ".join(targets) + "\n], swiftLanguageModes: [.v6])\n")


def lay_out(sites):
    """Writes the smaller package."""
    names = MODULES + HELPERS
    tests = [f"{name}Tests" for name in names if os.path.isdir(os.path.join(TOP, "Tests", f"{name}Tests"))]
    tests = [name for name in tests if name not in LEFT_OUT]
    write(os.path.join(PACKAGE, "Package.swift"), manifest(names, tests))
    write(os.path.join(PACKAGE, "Sources/MutantSupport/Support.swift"), SUPPORT)
    by_file = collections.defaultdict(list)
    for site in sites:
        by_file[site.file].append(site)
    wanted = {os.path.join(PACKAGE, "Package.swift"), os.path.join(PACKAGE, "Sources/MutantSupport/Support.swift")}
    folders = [folder_of(name) for name in names]
    for folder in folders + [f"Tests/{name}" for name in tests]:
        for place, _, files in os.walk(os.path.join(TOP, folder)):
            for name in files:
                path = os.path.relpath(os.path.join(place, name), TOP)
                target = os.path.join(PACKAGE, path)
                wanted.add(target)
                if path.endswith(".swift"):
                    write(target, changed_source(path, by_file[path]))
                elif not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(os.path.join(TOP, path)):
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    shutil.copyfile(os.path.join(TOP, path), target)
    for module in MODULES:
        text = "internal import MutantSupport\n\n" + VALUE + "".join(
            declaration(site) for site in sites
            if site.module == module and not site.old[0].isdigit() and site.old not in ("true", "false"))
        target = os.path.join(PACKAGE, folder_of(module), "Mutants.swift")
        wanted.add(target)
        write(target, text)
    for place, _, files in os.walk(PACKAGE):
        if os.path.relpath(place, PACKAGE).split(os.sep)[0] in ("Sources", "Tests"):
            for name in files:
                if os.path.join(place, name) not in wanted:
                    os.remove(os.path.join(place, name))
    for name in ("Fixtures", "Docs", ".venv"):
        link = os.path.join(PACKAGE, name)
        if not os.path.lexists(link) and os.path.exists(os.path.join(TOP, name)):
            os.symlink(os.path.join(TOP, name), link)


ERROR = re.compile(r"^(/\S+\.swift):(\d+):(\d+): error: (.*)$", re.M)


def build(sites):
    """Builds the package; what does not compile when changed is left as it is.

    Returns the places that are in the build."""
    for attempt in range(40):
        lay_out(sites)
        print(f"building with {len(sites)} changes", flush=True)
        result = subprocess.run(["swift", "build", "--build-tests"], cwd=PACKAGE, capture_output=True, text=True)
        if result.returncode == 0:
            return sites
        output = result.stdout + result.stderr
        write(os.path.join(WORK, "build.log"), output)
        places = {(os.path.relpath(path, PACKAGE), int(line)) for path, line, _, _ in ERROR.findall(output)}
        lines = {place for place in places if not place[0].endswith("Mutants.swift")}
        for reach in (0, 1, 3, 10, 100):
            bad = {site.number for site in sites
                   if any(site.file == file and abs(site.line - line) <= reach for file, line in lines)}
            if bad:
                break
        if not bad:
            sys.exit(f"the changed package does not build, see {WORK}/build.log")
        sites = [site for site in sites if site.number not in bad]
    sys.exit("too many attempts to build")


# --- running ----------------------------------------------------------------------------------------------------------

class Runner:
    """The test program of the changed package."""

    def __init__(self, count):
        bins = subprocess.run(["swift", "build", "--show-bin-path"], cwd=PACKAGE, capture_output=True, check=True, text=True)
        self.program = os.path.join(bins.stdout.strip(), "mutantsPackageTests.xctest")
        self.count = count

    def suites(self):
        """The names of the test suites."""
        text = subprocess.run(["swift", "test", "list", "--skip-build"], cwd=PACKAGE, capture_output=True, text=True).stdout
        return sorted({line.split("/")[0] for line in text.splitlines() if "/" in line and "." in line})

    def run(self, suites, limit, mutant=0, record=None):
        """Runs suites; whether they passed in time, and how long they took."""
        environment = {**os.environ, "KZ_MUTANT": str(mutant), "SWIFT_BACKTRACE": "enable=no"}
        if record:
            environment["KZ_RECORD"] = record
        command = [self.program, "--testing-library", "swift-testing"]
        for suite in suites:
            command += ["--filter", "^" + re.escape(suite) + "/"]
        start = time.monotonic()
        child = subprocess.Popen(command, cwd=PACKAGE, env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            passed = child.wait(limit) == 0
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()
            passed = False
        return passed, time.monotonic() - start

    def reached(self, suite):
        """Which changes a suite reaches, and how long it takes; `None` when it fails as it is."""
        path = os.path.join(WORK, f"record-{hashlib.sha1(suite.encode()).hexdigest()[:8]}")
        with open(path, "wb") as file:
            file.truncate(self.count + 1)
        passed, took = self.run([suite], 300, record=path)
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            numbers = [number for number, byte in enumerate(memory[:]) if byte]
        os.remove(path)
        return (numbers, took) if passed else None


def batches(module, reaching, times):
    """The suites that reach a change, in the order in which they are run: the quick ones of the module itself, its others, the rest."""
    quickest = sorted(reaching, key=lambda suite: times[suite])
    own = [suite for suite in quickest if suite.startswith(module + "Tests.")]
    quick, spent = [], 0
    for suite in own:
        spent += times[suite]
        if quick and spent > 1:
            break
        quick.append(suite)
    return [quick, own[len(quick):], [suite for suite in quickest if suite not in own]]


def verdict(runner, site, reaching, times):
    """`killed` or `survived`."""
    for suites in batches(site.module, reaching, times):
        usual = sum(times[suite] for suite in suites)
        # One that hangs is noticed, too: it need not be waited for ten times as long where that is minutes.
        if suites and not runner.run(suites, min(10 + 10 * usual, 40 + 2 * usual), site.number)[0]:
            return "killed"
    return "survived"


# --- the whole --------------------------------------------------------------------------------------------------------

def equivalents():
    """What cannot be noticed, with its reason: file, line, old, new."""
    known = set()
    if os.path.exists(EQUIVALENT):
        with open(EQUIVALENT, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    known.add(tuple(cell.strip() for cell in line.rstrip("\n").split("\t")[:4]))
    return known


def load(name, default):
    """A document of an earlier run."""
    try:
        with open(os.path.join(WORK, name), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return default


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--module", action="append", choices=MODULES, help="only this module; may be repeated")
    parser.add_argument("--sample", type=int, help="so many changes of each module, chosen by chance")
    parser.add_argument("--seed", type=int, default=1, help="of the chance")
    parser.add_argument("--resume", action="store_true", help="keep the build and the verdicts of an earlier run")
    parser.add_argument("--again", action="store_true", help="with --resume: try the survivors again")
    parser.add_argument("--own", action="store_true",
                        help="run only the suites of the changed module itself: quicker, what only others notice survives")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many test programs at once")
    options = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    every = all_sites()
    refused = set(load("refused.json", []))
    built = build([site for site in every if site.key not in refused])
    refused = {site.key for site in every} - {site.key for site in built}
    write(os.path.join(WORK, "refused.json"), json.dumps(sorted(refused)))
    runner = Runner(len(every))
    reach, times = collections.defaultdict(list), {}
    modules = options.module or MODULES
    suites = [suite for suite in runner.suites()
              if not options.own or suite.startswith(tuple(f"{module}Tests." for module in modules))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(runner.reached, suites))
    for suite, result in zip(suites, results):
        if result is None:
            print(f"fails without a change and is left out: {suite}", flush=True)
            continue
        numbers, times[suite] = result
        for number in numbers:
            reach[number].append(suite)
    if options.own:
        home = {site.number: f"{site.module}Tests." for site in built}
        reach.update({number: [suite for suite in reached if suite.startswith(home[number])] for number, reached in reach.items()})
    print(f"{len(times)} suites, {sum(times.values()):.0f} s", flush=True)
    verdicts = load("verdicts.json", {}) if options.resume else {}
    if options.again:
        verdicts = {key: value for key, value in verdicts.items() if value == "killed"}
    chance = random.Random(options.seed)
    chosen = []
    for module in modules:
        sites = [site for site in built if site.module == module]
        chosen += sites if options.sample is None else sorted(chance.sample(sites, min(options.sample, len(sites))))
    waiting = [site for site in chosen if site.key not in verdicts]
    for site in waiting:
        if not reach[site.number]:
            verdicts[site.key] = "unreached"
    waiting = [site for site in waiting if site.key not in verdicts]
    done, start = 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {pool.submit(verdict, runner, site, reach[site.number], times): site for site in waiting}
        for run in concurrent.futures.as_completed(runs):
            verdicts[runs[run].key] = run.result()
            done += 1
            if done % 50 == 0:
                write(os.path.join(WORK, "verdicts.json"), json.dumps(verdicts))
                print(f"{done} of {len(waiting)}, {(time.monotonic() - start) / done:.2f} s each", flush=True)
    write(os.path.join(WORK, "verdicts.json"), json.dumps(verdicts))
    report(chosen, every, verdicts)


def report(chosen, every, verdicts):
    """Prints the survivors and the figures of each module."""
    known = equivalents()
    counts = collections.defaultdict(collections.Counter)
    for site in chosen:
        state = verdicts[site.key]
        if state != "killed" and (site.file, site.text, site.old, site.new) in known:
            state = "equivalent"
        elif state != "killed":
            print(f"{site.file}:{site.line}:{site.column + 1}: {site.old} -> {site.new or 'nothing'} ({state}): {site.text}")
        counts[site.module][state] += 1
    print(f"{'module':14}{'tried':>7}{'killed':>8}{'equivalent':>12}{'survived':>10}{'not reached':>13}{'survivors':>11}")
    for module, count in counts.items():
        left = count["survived"] + count["unreached"]
        tried = sum(count.values())
        print(f"{module:14}{tried:7}{count['killed']:8}{count['equivalent']:12}{count['survived']:10}{count['unreached']:13}"
              f"{100 * left / max(1, tried - count['equivalent']):10.1f}%")
    total = collections.Counter(site.module for site in every)
    print("places found:", ", ".join(f"{module} {number}" for module, number in total.items()))


if __name__ == "__main__":
    main()
