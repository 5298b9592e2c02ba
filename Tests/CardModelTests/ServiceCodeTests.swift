// SPDX-License-Identifier: Apache-2.0

import CardModel
import Testing

/// The attributes of services. The table is that of the unofficial user's manual (08 to 17), with the PIN variants of
/// phones at +20 as felica-tool and Proxmark3 list them.
struct ServiceCodeTests {
    struct Attribute: Hashable, Sendable {
        let kind: ServiceKind
        let access: ServiceAccess
        let key: Bool
        var pin = false
    }

    static let named: [UInt8: Attribute] = [
        0x08: Attribute(kind: .random, access: .readWrite, key: true),
        0x09: Attribute(kind: .random, access: .readWrite, key: false),
        0x0A: Attribute(kind: .random, access: .readOnly, key: true),
        0x0B: Attribute(kind: .random, access: .readOnly, key: false),
        0x0C: Attribute(kind: .cyclic, access: .readWrite, key: true),
        0x0D: Attribute(kind: .cyclic, access: .readWrite, key: false),
        0x0E: Attribute(kind: .cyclic, access: .readOnly, key: true),
        0x0F: Attribute(kind: .cyclic, access: .readOnly, key: false),
        0x10: Attribute(kind: .purse, access: .direct, key: true),
        0x11: Attribute(kind: .purse, access: .direct, key: false),
        0x12: Attribute(kind: .purse, access: .cashback, key: true),
        0x13: Attribute(kind: .purse, access: .cashback, key: false),
        0x14: Attribute(kind: .purse, access: .decrement, key: true),
        0x15: Attribute(kind: .purse, access: .decrement, key: false),
        0x16: Attribute(kind: .purse, access: .readOnly, key: true),
        0x17: Attribute(kind: .purse, access: .readOnly, key: false),
        0x28: Attribute(kind: .random, access: .readWrite, key: true, pin: true),
        0x29: Attribute(kind: .random, access: .readWrite, key: false, pin: true),
        0x2A: Attribute(kind: .random, access: .readOnly, key: true, pin: true),
        0x2B: Attribute(kind: .random, access: .readOnly, key: false, pin: true),
        0x2C: Attribute(kind: .cyclic, access: .readWrite, key: true, pin: true),
        0x2D: Attribute(kind: .cyclic, access: .readWrite, key: false, pin: true),
        0x2E: Attribute(kind: .cyclic, access: .readOnly, key: true, pin: true),
        0x2F: Attribute(kind: .cyclic, access: .readOnly, key: false, pin: true),
        0x30: Attribute(kind: .purse, access: .direct, key: true, pin: true),
        0x31: Attribute(kind: .purse, access: .direct, key: false, pin: true),
        0x32: Attribute(kind: .purse, access: .cashback, key: true, pin: true),
        0x33: Attribute(kind: .purse, access: .cashback, key: false, pin: true),
        0x34: Attribute(kind: .purse, access: .decrement, key: true, pin: true),
        0x35: Attribute(kind: .purse, access: .decrement, key: false, pin: true),
        0x36: Attribute(kind: .purse, access: .readOnly, key: true, pin: true),
        0x37: Attribute(kind: .purse, access: .readOnly, key: false, pin: true),
    ]

    @Test(arguments: 0...63 as ClosedRange<UInt8>, [0, 1, 0x24, 1023] as [UInt16])
    func attributes(_ attribute: UInt8, _ number: UInt16) {
        let code = ServiceCode(rawValue: number << 6 | UInt16(attribute))
        let expected = Self.named[attribute]
        #expect(code.number == number)
        #expect(code.attribute == attribute)
        #expect(code.kind == expected?.kind)
        #expect(code.access == expected?.access)
        #expect(code.requiresPIN == (expected?.pin ?? false))
        if let expected { #expect(code.requiresAuthentication == expected.key) }
        #expect(code.node.rawValue == code.rawValue)
    }

    /// Same number and same type: the rule of felica-dumper and nfcpy, written out from the table above.
    @Test func overlapGroups() {
        for (left, leftKind) in Self.named {
            for (right, rightKind) in Self.named {
                let same = leftKind.kind == rightKind.kind && leftKind.pin == rightKind.pin
                let groups = [left, right].map { ServiceCode(rawValue: 0x0900 | UInt16($0)).overlapGroup }
                #expect((groups[0] == groups[1]) == same, "\(left) and \(right)")
                let other = ServiceCode(rawValue: 0x0940 | UInt16(right)).overlapGroup
                #expect(groups[0] != other, "another number")
            }
        }
    }

    @Test func groupsOfWellKnownServices() {
        func group(_ code: UInt16) -> UInt16 { ServiceCode(rawValue: code).overlapGroup }
        #expect(group(0x0088) == group(0x008B))
        #expect(group(0x090C) == group(0x090F))
        #expect(group(0x1310) == group(0x1317))
        #expect(group(0x0088) != group(0x008C))
        // Attributes that nobody names are in no group of those that have a type.
        for attribute in 0...63 as ClosedRange<UInt16> where Self.named[UInt8(attribute)] == nil {
            #expect(!Self.named.keys.contains { group(UInt16($0)) == group(attribute) }, "\(attribute)")
        }
    }
}
