#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py FILE: an SPDX 2.3 document of what is inside the programs: Kazasu, the Swift packages of Package.resolved, the
Swift runtime and the tables of names. Shared libraries are dependencies of the Debian packages and not inside."""

import json
import os
import re
import subprocess
import sys
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# What the license files of the packages say; a package that is not listed has no assertion.
LICENSES = {
    "grdb.swift": "MIT", "yams": "MIT",
    "swift-log": "Apache-2.0", "swift-system": "Apache-2.0", "swift-collections": "Apache-2.0",
    "swift-nio": "Apache-2.0", "swift-atomics": "Apache-2.0",
}


def change(word):
    """What CHANGELOG.md says about this version."""
    return subprocess.run([os.path.join(TOP, "packaging", "scripts", "changes.py"), word], capture_output=True,
                          check=True, text=True).stdout.strip()


def package(name, version, license_, location="NOASSERTION"):
    """One package of the document."""
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
        "downloadLocation": location, "filesAnalyzed": False, "licenseConcluded": license_,
        "licenseDeclared": license_, "copyrightText": "NOASSERTION",
    }


def resolved():
    """The Swift packages of this build."""
    with open(os.path.join(TOP, "Package.resolved"), encoding="utf-8") as file:
        pins = json.load(file)["pins"]
    for pin in sorted(pins, key=lambda pin: pin["identity"]):
        state = pin["state"]
        yield package(pin["identity"], state.get("version", state["revision"]),
                      LICENSES.get(pin["identity"], "NOASSERTION"), f"git+{pin['location']}@{state['revision']}")


def station_license():
    """What the packed names of stations say of themselves."""
    name = "open.inc" if os.environ.get("STATIONS") == "open" else "tables.inc"
    with open(os.path.join(TOP, "ThirdParty", "stations", name), encoding="utf-8") as file:
        return file.readline().partition("SPDX-License-Identifier: ")[2].strip()


def notice():
    """The paragraph of NOTICE about the data of YSRL."""
    with open(os.path.join(TOP, "NOTICE"), encoding="utf-8") as file:
        return next(part for part in file.read().split("\n\n") if part.startswith("Station codes and names:"))


def main():
    version, epoch = change("version"), int(os.environ.get("SOURCE_DATE_EPOCH") or change("epoch"))
    found = re.search(r"Swift version (\S+)", subprocess.run(["swift", "--version"], capture_output=True, check=True,
                                                             text=True).stdout)
    own = package("kazasu", version, "Apache-2.0")
    inside = [
        *resolved(),
        package("swift-runtime", found[1] if found else "NOASSERTION", "Apache-2.0 WITH Swift-exception"),
        package("station-names", version, station_license()),
    ]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"kazasu-{version}", "documentNamespace": f"urn:kazasu:{version}:{epoch}",
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
                             "creators": ["Tool: packaging/scripts/sbom.py"]},
            "packages": [own, *inside],
            "hasExtractedLicensingInfos": [
                {"licenseId": name, "name": name, "extractedText": notice()}
                for name in ("LicenseRef-YSRL",) if name in station_license()
            ],
            "relationships": [
                {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                 "relatedSpdxElement": own["SPDXID"]},
                *({"spdxElementId": own["SPDXID"], "relationshipType": "STATIC_LINK",
                   "relatedSpdxElement": other["SPDXID"]} for other in inside),
            ],
        }, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
