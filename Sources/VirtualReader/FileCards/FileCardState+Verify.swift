// SPDX-License-Identifier: Apache-2.0

extension FileCardState {
    /// VERIFY, and with no data the question for the tries left, which costs none.
    ///
    /// A value of another length than the PIN's is a wrong value and costs a try, the worst that a card can do.
    mutating func verify(_ command: CommandAPDU) -> FileCardReply {
        guard command.p1 == 0 else { return FileCardReply(StatusWord.wrongParameters) }
        guard command.expected == nil else { return FileCardReply(StatusWord.wrongLength) }
        let place: Place
        if command.p2 & 0x7F == 0 {
            switch current {
            case .none: return FileCardReply(StatusWord.noCurrentFile)
            case .file: return FileCardReply(StatusWord.wrongFileStructure)
            case .pin(let index): place = Place(directory: directory, index: index)
            }
        } else {
            guard let found = referenced(command.p2) else { return FileCardReply(options.unknownReferenceStatus) }
            place = found
        }
        guard !command.data.isEmpty else {
            let pin = tree[place.directory].pins[place.index]
            return FileCardReply(pin.triesLeft == 0 ? pin.lockedStatus : options.queryStatus ?? FileCardState.left(pin))
        }
        return FileCardReply(tryValue(command.data, at: place))
    }

    private struct Place {
        var directory: Int
        var index: Int
    }

    /// A reference with bit 8 is one of the current directory, without it one of the master file.
    private func referenced(_ reference: UInt8) -> Place? {
        let number = reference & 0x80 == 0 ? 0 : directory
        return tree[number].pins.firstIndex { $0.reference == reference }.map { Place(directory: number, index: $0) }
    }

    private mutating func tryValue(_ value: [UInt8], at place: Place) -> UInt16 {
        var pin = tree[place.directory].pins[place.index]
        guard pin.triesLeft > 0 else { return pin.lockedStatus }
        let isRight = value == pin.value
        pin.triesLeft = isRight ? pin.tries : pin.triesLeft - 1
        tree[place.directory].pins[place.index] = pin
        guard !isRight else {
            verified.insert(pin.name)
            return StatusWord.success
        }
        verified.remove(pin.name)
        return pin.tellsTries ? FileCardState.left(pin) : StatusWord.mismatch
    }

    private static func left(_ pin: VirtualPIN) -> UInt16 {
        StatusWord.triesLeft | UInt16(min(max(pin.triesLeft, 0), 15))
    }
}
