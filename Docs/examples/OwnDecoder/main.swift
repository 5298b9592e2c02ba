// SPDX-License-Identifier: Apache-2.0

// A decoder for a card that Kazasu does not know, an invented one, and what it makes of a dump.
import KazasuCards

let document = """
    { "schema": "kazasu.dump/1",
      "card": { "technology": "felica", "idm": "0102030405060708", "pmm": "0102030405060708" },
      "felica": { "systems": [
        { "systemCode": "8FC1", "idm": "0102030405060708", "pmm": "0102030405060708", "services": [
          { "code": "100B", "state": "read", "blocks": { "0000": "e8030000303034320000000000000000" } },
          { "code": "180F", "state": "read", "blocks": { "0000": "c2010000000000000000000000000000" } } ] } ] } }
    """
let dump = try CardDump(parsing: Array(document.utf8))
let registry = DecoderRegistry([CanteenDecoder()] + DecoderRegistry.standard.decoders)
for decoder in registry.recognizing(dump) {
    let report = try decoder.decode(dump)
    print(report.name[.english], report.balances.map { "\($0.amount ?? 0)" }, report.history?.count ?? 0)
}
