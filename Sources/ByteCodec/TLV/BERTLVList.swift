// SPDX-License-Identifier: Apache-2.0

/// Data objects read with tolerance, up to the first that is broken.
public struct BERTLVList: Hashable, Sendable {
    /// The objects before the first that is broken, in order.
    public let objects: [BERTLV]
    /// What is wrong with the first broken one; `nil` when all was read.
    public let fault: TLVFault?

    /// Reads objects as cards store them: with 00 between them, with 00 or FF up to the end, and with lengths in more
    /// bytes than they need.
    public init(tolerant bytes: some Collection<UInt8>) {
        var objects: [BERTLV] = []
        let bytes = Array(bytes)
        // From here on there is only padding. FF is also the first byte of tags such as FF20.
        let end = (bytes.lastIndex { $0 != 0x00 && $0 != 0xFF } ?? -1) + 1
        var rest = bytes[...]
        while let first = rest.first {
            if first == 0x00 {
                rest = rest.dropFirst()
                continue
            }
            if first == 0xFF, rest.startIndex >= end { break }
            do throws(TLVFault) {
                let (object, header) = try BERTLV.first(of: rest)
                objects.append(object)
                rest = rest.dropFirst(header.totalLength)
            } catch {
                self.objects = objects
                fault = error
                return
            }
        }
        self.objects = objects
        fault = nil
    }

    /// The first object with a tag.
    public subscript(tag: BERTag) -> BERTLV? {
        objects.first { $0.tag == tag }
    }
}
