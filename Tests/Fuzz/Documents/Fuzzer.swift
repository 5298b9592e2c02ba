// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML

/// Feeds the JSON parser, the reader of Kazasu's own dumps, and every other format of dumps, those in XML too.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let dump = try? CardDump(parsing: bytes) {
        // What was read can be written, and read again as the same.
        guard let again = try? CardDump(parsing: Array(dump.json.compactText.utf8)), again == dump else { fatalError() }
    }
    _ = try? DumpFormatRegistry.complete.read(bytes)
    return 0
}
