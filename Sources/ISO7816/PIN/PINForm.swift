// SPDX-License-Identifier: Apache-2.0

/// What a PIN may be; checked before anything is sent, since a card takes a wrong form for a wrong PIN.
@nonexhaustive
public enum PINForm: Hashable, Sendable {
    /// So many digits in ASCII.
    case digits(Int)
    /// Capital letters A to Z and digits in ASCII, so many of them.
    case capitalsAndDigits(ClosedRange<Int>)
    /// Printable ASCII, so many characters.
    case printable(ClosedRange<Int>)
    /// Just these bytes: what a card has in place of a PIN that was never set.
    case exactly([UInt8])

    func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .digits(let count): unsafe bytes.count == count && bytes.allSatisfy(PINForm.isDigit)
        case .capitalsAndDigits(let counts):
            unsafe counts.contains(bytes.count)
                && bytes.allSatisfy { PINForm.isDigit($0) || (0x41...0x5A).contains($0) }
        case .printable(let counts):
            unsafe counts.contains(bytes.count) && bytes.allSatisfy { (0x20...0x7E).contains($0) }
        case .exactly(let expected): unsafe bytes.elementsEqual(expected)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
