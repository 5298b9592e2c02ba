// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension Array where Element: FourDigitCode {
    /// A count byte and the codes, each least significant byte first.
    var countedWireBytes: [UInt8] {
        var bytes = ByteWriter([UInt8(truncatingIfNeeded: count)])
        for code in self { bytes.write(code.rawValue, .little) }
        return bytes.bytes
    }

    /// Checks the number of entries.
    func validateCount(_ list: ArgumentFlaw.List, _ allowed: ClosedRange<Int>) throws(FeliCaError) {
        guard allowed.contains(count) else {
            throw .invalidArgument(.count(list, count, allowed: allowed))
        }
    }
}
