// SPDX-License-Identifier: Apache-2.0

import Kazasu

// A MIFARE DESFire gets an application with its owner's keys, and a file that everybody reads and key 1 writes.
// Test keys of a card that does not exist. A program reads a file, and overwrites the bytes afterwards.
let plan = """
    {"schema": "kazasu.tagPlan/1", "chip": "desfire", "applications": [
      {"aid": "F5A1C0", "keyType": "aes", "keys": 2,
       "files": [{"number": 1, "type": "standard", "access": "E110", "size": 32, "data": "4D656D626572"}]}]}
    """
let file = """
    F5A1C0 0 A0A1A2A3A4A5A6A7A8A9AAABACADAEAF 01
    F5A1C0 1 1A1B1C1D1E1F10111213141516171819 01
    """
var keys = DESFireKeys()
try keys.add(file: Array(file.utf8))

let reader = try openReader(CommandLine.arguments.dropFirst().first ?? "virtual:Fixtures/virtual/desfire-factory.json")
let tag = try reader.waitForCard(.tag).forumTag()

// A program stores each step where it survives the loss of power: after an interruption, the same call with
// `resuming: DESFireProgress(uid: uid, steps: steps)` does what is missing.
var steps: [DESFireStep] = []
let result = try tag.provision(plan: try DESFirePlan(Array(plan.utf8)), keys: keys) { step in steps.append(step) }
print(steps.count, "steps,", result.isVerified ? "verified" : "not verified")
for (key, version) in result.versions.sorted(by: { "\($0.key)" < "\($1.key)" }) { print("key", key, "version", version) }
