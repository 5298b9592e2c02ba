// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML
import MIFAREClassic

/// Feeds the JSON parser, the reader of Kazasu's own dumps, every other format of dumps, those in XML too, and files of keys; what was
/// read is written in every format.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let dump = try? CardDump(parsing: bytes) {
        // What was read can be written, and read again as the same.
        guard let again = try? CardDump(parsing: Array(dump.json.compactText.utf8)), again == dump else { fatalError() }
    }
    for dump in (try? DumpFormatRegistry.complete.read(bytes).dumps) ?? [] {
        for format in DumpFormatRegistry.complete.writable { _ = try? format.write(dump) }
    }
    _ = try? ClassicKeys(reading: bytes)
    return 0
}
