// SPDX-License-Identifier: Apache-2.0

import Kazasu

// A FeliCa Standard and the keys of its owner: is it genuine, which keys fit, and what do they open?
// Test keys of a card that does not exist. A program reads a file, and overwrites the bytes afterwards.
let file = """
    0003 FFFF 64B34B0A2BC199B1
    0003 0000 6612317B4FD74F39
    0003 1000 EFAA8C23162FBB60
    0003 1408 A989255BF6DACD10 0007
    FE00 0048 0F0E0D0C0B0A09080706050403020100
    """
var keys = StandardKeys()
try keys.add(file: Array(file.utf8))

let reader = try openReader(CommandLine.arguments.dropFirst().first ?? "virtual:Fixtures/felica/standard-keys.json")
let card = try reader.waitForCard(.feliCa(systems: keys.systems)).standard(keys: keys)

let proof = try card.verify()
print(proof.system, proof.isGenuine ? "genuine" : "not genuine", proof.opened)

for system in try card.information().get() {
    for node in system.nodes {
        print(system.system.code, node.code, node.kind, node.key?.rawValue ?? "-")
    }
}

for service in try card.read([ServiceCode(rawValue: 0x1408)]).get().services {
    print(service.code, service[0]?.description ?? "-")
}

// What a write would do; card.write(planned) does it.
if let block = Block((0..<16).map { UInt8($0) }) {
    let planned = try card.plan(BlockWrite(ServiceCode(rawValue: 0x1408), block: 1, .blocks([block])))
    for change in planned.blocks { print(change.number, change.before, "becomes", change.after) }
}
