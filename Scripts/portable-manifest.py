#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""portable-manifest.py TOP: the Package.swift of Scripts/test-portable, from what the real one says."""

import json
import subprocess
import sys

LEFT_OUT = ("DumpFormatsXML",)
ROOMS = ("Sources/Cards/", "Sources/Protocols/", "Sources/C/CStationTables", "Sources/C/CCardLayouts", "Sources/C/CLibCrypto",
         "Sources/Products/KazasuCards", "Sources/Products/KazasuReading")

package = json.loads(subprocess.run(
    ["swift", "package", "dump-package"], cwd=sys.argv[1], capture_output=True, check=True, text=True).stdout)
targets = ['.systemLibrary(name: "Musl", path: "Sources/C/Musl")']
for target in package["targets"]:
    path = target.get("path") or ""
    if not path.startswith(ROOMS) or target["name"] in LEFT_OUT:
        continue
    needs = [one["byName"][0] for one in target["dependencies"] if "byName" in one]
    needs += ["Musl"] if target["name"] in ("ByteCodec", "ReaderCore") else []
    features = [one["kind"]["enableUpcomingFeature"]["_0"] for one in target["settings"] if "enableUpcomingFeature" in one["kind"]]
    tables = ", ".join(f'.embedInCode("{one["path"]}")' for one in target["resources"])
    settings = ", ".join(f'.enableUpcomingFeature("{one}")' for one in features)
    targets.append(f'.target(name: "{target["name"]}", dependencies: {json.dumps(needs)}, path: "{path}", '
                   f'resources: [{tables}], swiftSettings: [{settings}])')
print("// swift-tools-version: 6.2\nimport PackageDescription\nlet package = Package(name: \"portable\", targets: [\n    "
      + ",\n    ".join(targets) + "\n], swiftLanguageModes: [.v6])")
