#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the public declarations of the library products in Docs/api, a file a module, or makes the API pages of the products with docc."""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FOLDER = os.path.join(TOP, "Docs", "api")


def output(*command):
    """What a command prints."""
    return subprocess.run(command, cwd=TOP, check=True, capture_output=True, text=True).stdout


class Package:
    """What Package.swift declares."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        # In a folder of its own, it does not wait for a build that has the lock.
        with tempfile.TemporaryDirectory() as scratch:
            package = json.loads(output("swift", "package", "--scratch-path", scratch, "dump-package"))
        self.targets = {target["name"]: target for target in package["targets"]}
        #: The library products and the modules of this package that each offers.
        self.products = {
            product["name"]: self.modules(product["targets"])
            for product in package["products"] if "library" in product["type"]
        }
        self.triple = json.loads(output("swift", "-print-target-info"))["target"]["unversionedTriple"]

    def modules(self, names):
        """These targets and all that they depend on, without C modules."""
        modules, waiting = set(), list(names)
        while waiting:
            name = waiting.pop()
            if name in modules or name not in self.targets or self.targets[name]["type"] == "system":
                continue
            folder = os.path.join(TOP, self.targets[name]["path"])
            if glob.glob(os.path.join(folder, "**", "*.swift"), recursive=True):
                modules.add(name)
            for dependency in self.targets[name]["dependencies"]:
                waiting += [part[0] for part in dependency.values() if isinstance(part[0], str)]
        return sorted(modules)

    def symbol_graph(self, module, folder, *options):
        """Writes the symbol graph of the public declarations of a built module."""
        subprocess.run(
            ["swift", "symbolgraph-extract", "-module-name", module, "-target", self.triple,
             "-I", os.path.join(self.build, "Modules"), "-I", self.build, "-minimum-access-level", "public",
             "-skip-synthesized-members", "-skip-inherited-docs", "-output-dir", folder, *options] + self.c_modules(),
            cwd=TOP, check=True, stdout=subprocess.DEVNULL)

    def c_modules(self):
        """Where the module maps and headers of C libraries are."""
        system = [target for target in self.targets.values() if target["type"] == "system"]
        flags = output("pkg-config", "--cflags-only-I", *[target["pkgConfig"] for target in system if target.get("pkgConfig")])
        folders = [os.path.join(TOP, target["path"]) for target in system]
        # Those of packages that are built from source.
        checkouts = os.path.join(os.path.realpath(self.build), "../../checkouts/*/")
        for place in ["Sources/*/include", "*/include"]:
            folders += [os.path.dirname(path) for path in glob.glob(checkouts + place + "/module.modulemap")]
        return flags.split() + [part for folder in folders for part in ("-I", folder)]


def declarations(package, module):
    """The public declarations of one module, as `Module Path: declaration`."""
    with tempfile.TemporaryDirectory() as folder:
        package.symbol_graph(module, folder)
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for symbol in json.load(file)["symbols"]:
                    if symbol["identifier"]["precise"].find("::SYNTHESIZED::") >= 0:
                        continue
                    text = "".join(part["spelling"] for part in symbol["declarationFragments"])
                    yield f"{module} {'.'.join(symbol['pathComponents'])}: {' '.join(text.split())}"


def lists(package, check):
    """Writes the files of Docs/api, one a module and `products.txt`, or says what differs from them."""
    modules = sorted({module for offered in package.products.values() for module in offered})
    texts = {
        "products.txt": "".join(
            f"{product}: {' '.join(offered)}\n" for product, offered in sorted(package.products.items()))
    }
    for module in modules:
        lines = sorted(set(declarations(package, module)))
        if lines:
            texts[module + ".txt"] = "".join(line + "\n" for line in lines)
    os.makedirs(FOLDER, exist_ok=True)
    stale = []
    for name in sorted(set(texts) | set(os.listdir(FOLDER))):
        path = os.path.join(FOLDER, name)
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        text = texts.get(name, "")
        if text == old:
            continue
        if check:
            stale.append(name.removesuffix(".txt"))
            before, now = set(old.splitlines()), set(text.splitlines())
            print("".join([f"- {line}\n" for line in sorted(before - now)] + [f"+ {line}\n" for line in sorted(now - before)]),
                  end="")
        elif text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        else:
            os.remove(path)
    if stale:
        sys.exit(f"The public declarations of {', '.join(stale)} changed: run make api and commit Docs/api.")


def pages(package, out):
    """Makes one archive for each product, with what it re-exports; fails at docc's first warning."""
    if shutil.which("docc") is None:
        print("no docc in this toolchain: no API pages")
        return
    for product, modules in package.products.items():
        archive = os.path.join(out, product + ".doccarchive")
        os.makedirs(out, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            # What another product adds has pages of its own; KazasuReading is what Kazasu consists of.
            others = ",".join(module for module in modules if module not in package.products or module == "KazasuReading" != product)
            package.symbol_graph(product, folder, "-experimental-allowed-reexported-modules=" + others)
            result = subprocess.run(
                ["docc", "convert", os.path.join(package.targets[product]["path"], product + ".docc"),
                 "--additional-symbol-graph-dir", folder, "--output-path", archive, "--warnings-as-errors",
                 "--fallback-display-name", product, "--fallback-bundle-identifier", "kazasu." + product,
                 "--transform-for-static-hosting", "--hosting-base-path", product], cwd=TOP)
        if result.returncode != 0:
            sys.exit(f"The API pages of {product} have warnings.")
        print(f"{os.path.relpath(archive, TOP)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the folder of the built modules, as swift build --show-bin-path prints it")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="write nothing; fail when Docs/api is out of date")
    choice.add_argument("--pages", metavar="FOLDER", help="make the API pages; fail when there is a warning")
    options = parser.parse_args()
    package = Package(options.build)
    if options.pages:
        pages(package, os.path.abspath(options.pages))
    else:
        lists(package, options.check)


if __name__ == "__main__":
    main()
