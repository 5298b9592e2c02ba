// SPDX-License-Identifier: Apache-2.0

import Kazasu

// An NTAG 424 DNA gets its owner's keys and a URL that it makes new each time it is read.
// Test keys of a tag that does not exist. A program reads a file, and overwrites the bytes afterwards.
let plan = """
    {"schema": "kazasu.tagPlan/1", "chip": "ntag424", "metaKey": 2, "fileKey": 1,
     "url": "https://kazasu.example/t?p={picc}&c={mac}"}
    """
let file = """
    0 A0A1A2A3A4A5A6A7A8A9AAABACADAEAF 01
    1 1A1B1C1D1E1F10111213141516171819 01
    2 2A2B2C2D2E2F20212223242526272829 01
    """
var keys = TagKeys()
try keys.add(file: Array(file.utf8))

let reader = try openReader(CommandLine.arguments.dropFirst().first ?? "virtual:Fixtures/virtual/ntag424-factory.json")
let tag = try reader.waitForCard(.tag).forumTag()

// A program stores each step where it survives the loss of power: after an interruption, the same call with
// `resuming: TagProgress(uid: uid, steps: steps)` does what is missing.
var steps: [TagStep] = []
let result = try tag.provision(plan: try TagPlan(Array(plan.utf8)), keys: keys) { step in steps.append(step) }
print(steps.count, "steps,", result.isVerified ? "verified" : "not verified")
for (number, version) in result.versions.sorted(by: { $0.key < $1.key }) { print("key", number, "version", version) }
