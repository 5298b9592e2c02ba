#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what each library product declares as public to Docs/api/PRODUCT.txt, one declaration a line, or checks it."""

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOLDER = os.path.join(TOP, "Docs", "api")


def output(*command):
    """What a command prints."""
    return subprocess.run(command, cwd=TOP, check=True, capture_output=True, text=True).stdout


def products():
    """The library products and the modules of this package that each offers, from Package.swift."""
    package = json.loads(output("swift", "package", "dump-package"))
    targets = {target["name"]: target for target in package["targets"]}
    found = {}
    for product in package["products"]:
        if "library" not in product["type"]:
            continue
        modules, waiting = set(), list(product["targets"])
        while waiting:
            name = waiting.pop()
            if name in modules or name not in targets or targets[name]["type"] == "system":
                continue
            modules.add(name)
            for dependency in targets[name]["dependencies"]:
                waiting += [part[0] for part in dependency.values() if isinstance(part[0], str) and part[0] in targets]
        found[product["name"]] = sorted(modules)
    return found


def declarations(module, build):
    """The public declarations of one module, as `Module Path: declaration`."""
    target = json.loads(output("swift", "-print-target-info"))["target"]["unversionedTriple"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["swift", "symbolgraph-extract", "-module-name", module, "-target", target, "-I",
             os.path.join(build, "Modules"), "-I", build, "-minimum-access-level", "public", "-skip-synthesized-members",
             "-skip-inherited-docs", "-output-dir", folder] + c_modules(build),
            cwd=TOP, check=True, stdout=subprocess.DEVNULL)
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for symbol in json.load(file)["symbols"]:
                    if symbol["identifier"]["precise"].find("::SYNTHESIZED::") >= 0:
                        continue
                    text = "".join(part["spelling"] for part in symbol["declarationFragments"])
                    yield f"{module} {'.'.join(symbol['pathComponents'])}: {' '.join(text.split())}"


def c_modules(build):
    """Where the module maps and headers of C libraries are."""
    flags = output("pkg-config", "--cflags-only-I", "libusb-1.0", "libnfc", "expat").split()
    for name in sorted(os.listdir(os.path.join(TOP, "Sources"))):
        if os.path.exists(os.path.join(TOP, "Sources", name, "module.modulemap")):
            flags += ["-I", os.path.join(TOP, "Sources", name)]
    # Those of packages that are built from source.
    for path in glob.glob(os.path.join(os.path.realpath(build), "../../checkouts/*/Sources/*/include/module.modulemap")):
        flags += ["-I", os.path.dirname(path)]
    return flags


def main():
    """Writes the files, or says what differs from them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the folder of the built modules, as swift build --show-bin-path prints it")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is out of date")
    parser.add_argument("--count", action="store_true", help="print how many declarations each product has")
    options = parser.parse_args()
    stale, known = [], {}
    for product, modules in products().items():
        lines = []
        for module in modules:
            if module not in known:
                known[module] = sorted(set(declarations(module, os.path.abspath(options.build))))
            lines += known[module]
        if options.count:
            print(f"{len(lines):5d} public declarations in {product}")
            continue
        path = os.path.join(FOLDER, product + ".txt")
        text = "".join(line + "\n" for line in lines)
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        if text == old:
            continue
        if options.check:
            stale.append(product)
            before, now = set(old.splitlines()), set(text.splitlines())
            for line in sorted(before - now):
                print(f"- {line}")
            for line in sorted(now - before):
                print(f"+ {line}")
        else:
            os.makedirs(FOLDER, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    if stale:
        sys.exit(f"The public declarations of {', '.join(stale)} changed: run make api and commit Docs/api.")


if __name__ == "__main__":
    main()
