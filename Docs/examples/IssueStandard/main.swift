// SPDX-License-Identifier: Apache-2.0

import Kazasu

// A blank FeliCa Standard becomes a system of its owner: an area, a service that needs a key, and its first block.
// That is permanent. Test keys of a card that does not exist. A program reads files, and overwrites the bytes afterwards.
let document = """
    {"schema": "kazasu.standardProfile/1", "system": "A0B1",
     "issueId": "4B415A4153553031", "issueParameter": "0000000000000001",
     "areas": [{"code": "1000", "end": "1FFF"}],
     "services": [{"codes": ["1008", "100B"], "blocks": 2, "data": ["4D454D42455220303030313233340000"]}]}
    """
let seller = """
    FFFF FFFF 0F1E2D3C4B5A6978
    FFFF 0000 8796A5B4C3D2E1F0
    """
let own = """
    A0B1 FFFF 1122334455667788 0001
    A0B1 0000 21436587A9CBED0F
    A0B1 1000 0123456789ABCDEF
    A0B1 1008 8877665544332211
    """
let profile = try StandardProfile(parsing: Array(document.utf8))
var (old, new) = (StandardKeys(), StandardKeys())
try old.add(file: Array(seller.utf8))
try new.add(file: Array(own.utf8))

let reader = try openReader(CommandLine.arguments.dropFirst().first ?? "virtual:Fixtures/felica/standard-blank.json")
let blank = try reader.waitForCard(.feliCa(systems: old.systems)).standard(keys: old)

// A program stores each step where it survives the loss of power: after an interruption, the same call with
// `resuming: steps` does what is missing.
var steps: Set<StandardStep> = []
try blank.issue(profile, keys: new) { step in steps.insert(step) }
print(steps.count, "steps")

let card = try reader.waitForCard(.feliCa(systems: new.systems)).standard(keys: new)
let proof = try card.verify()
print(proof.system, proof.isGenuine ? "genuine" : "not genuine", proof.opened)
for service in try card.read(proof.opened).get().services { print(service.code, service[0]?.description ?? "-") }
