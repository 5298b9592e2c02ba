// SPDX-License-Identifier: Apache-2.0

import Arrivals
import Glibc
import ReaderCore
import SimulatedChips
import Synchronization
import TestSupport
import VirtualReader

// A simulated USB reader behind standard input and output, for the emulated USB of `usb.py`:
//
//     usb-chip replay RECORDING
//     usb-chip port100|port400|rcs320|rcs310|acr122|acr122-copy|rcs330|scl3711 CARD [--unplug-before TRANSFER] [--leftover BYTES]… [--field empty]
//              [--fault COMMAND:KIND]… [--stuck reset|replug] [--clock FILE]
//
// Requests: `O` with two bytes of length (little-endian) and a transfer from the host; `I` for the next transfer to it;
// `C` and `R` for a configuration and a reset of the device, `E` and `P` for a field without the card and with it again, which
// are not answered; `S` for the statistics. Answers to `O`, `I` and `S` begin with two bytes of length; FFFF is nothing yet, FFFE no device.

/// Reads exactly so many bytes; `nil` at the end of the input.
func read(_ count: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < count {
        var buffer = [UInt8](repeating: 0, count: count - bytes.count)
        let received = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
        guard received > 0 else { return nil }
        bytes += buffer.prefix(received)
    }
    return bytes
}

func write(_ bytes: [UInt8], length: Int) {
    var rest = ([UInt8(length & 0xFF), UInt8(length >> 8 & 0xFF)] + bytes)[...]
    while !rest.isEmpty {
        let sent = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        guard sent > 0 else { exit(1) }
        rest = rest.dropFirst(sent)
    }
}

func fail(_ message: String) -> Never {
    let line = Array("usb-chip: \(message)\n".utf8)
    _ = Glibc.write(STDERR_FILENO, line, line.count)
    exit(64)
}

/// What can go wrong at a command, by its name.
let faultKinds: [String: InjectedUSBFault] = [
    "nothing": .nothing, "dead": .dead, "late": .late, "twice": .twice, "garbage": .garbage([0x12, 0x34]),
    "truncated": .truncated(to: 9), "error-frame": .errorFrame, "wrong-code": .wrongCode,
    "wrong-checksum": .wrongDataChecksum, "wrong-length": .wrongLengthChecksum, "wrong-number": .wrongSequence,
]

/// Gives what was recorded, as long as it is asked what was asked then; what differs is a complaint.
final class RecordedChip: VirtualUSBChip {
    private let events: Mutex<ArraySlice<RecordedLink.Event>>
    private let counted = Mutex(USBChipStatistics())

    init(_ recorded: RecordedLink) { events = Mutex(recorded.events[...]) }

    var isUnplugged: Bool { false }

    var statistics: USBChipStatistics {
        var statistics = counted.withLock { $0 }
        let left = events.withLock(\.count)
        if left > 0 { statistics.complaints.append("\(left) recorded transfers were not asked for") }
        return statistics
    }

    func receive(_ transfer: [UInt8]) {
        events.withLock { events in
            // Answers that nobody fetched, and times that nothing came.
            while case .failed? = events.first { events = events.dropFirst() }
            guard case .sent(transfer)? = events.first else {
                counted.withLock { $0.complaints.append("\(transfer), expected \(String(describing: events.first))") }
                return
            }
            events = events.dropFirst()
        }
    }

    func nextTransfer() -> [UInt8]? {
        events.withLock { events in
            guard case .received(let bytes)? = events.first else { return nil }
            events = events.dropFirst()
            return bytes
        }
    }
}

var arguments = CommandLine.arguments.dropFirst()
guard let kind = arguments.popFirst(), let card = arguments.popFirst() else { fail("which chip, which card?") }
var faults = InjectedUSBFaults()
var sharedClock: SharedClock?
var condition = PN53xUSBFirmware.Condition.well
let field = try kind == "replay" ? VirtualField() : VirtualField(cardFile: TestFiles.read(card))
while let option = arguments.popFirst() {
    guard let value = arguments.popFirst() else { fail("\(option) needs a value") }
    switch option {
    case "--unplug-before": faults.unplugBeforeTransfer = Int(value)
    case "--leftover": faults.leftover.append(Array(value.utf8))
    case "--field" where value == "empty": field.removeCards()
    case "--clock": sharedClock = SharedClock(value)
    case "--stuck": condition = value == "reset" ? .stuckUntilReset : .stuckUntilReplugged
    case "--fault":
        let parts = value.split(separator: ":").map(String.init)
        guard parts.count == 2, let command = Int(parts[0]), let fault = faultKinds[parts[1]] else {
            fail("no fault is called \(value)")
        }
        faults.atCommand[command] = fault
    default: fail("\(option) is not known")
    }
}
let chip: any VirtualUSBChip
switch kind {
case "port100": chip = VirtualPort100(field: field, faults: faults)
case "port400": chip = VirtualPort400(field: field, faults: faults, hasOrphan: true)
case "acr122", "acr122-copy":
    chip = VirtualACR122(field: field, faults: faults, isCopy: kind == "acr122-copy")
case "rcs320", "rcs310":
    chip = VirtualRCS320(field: field, faults: faults, isRCS310: kind == "rcs310", isMuteWithoutCard: kind == "rcs310")
case "replay": chip = RecordedChip(RecordedLink(try Transcript(parsing: TestFiles.read(card))))
case "scl3711": chip = VirtualPN53xUSB(.scl3711, field: field, faults: faults)
case "rcs330": chip = VirtualPN53xUSB(field: field, faults: faults, condition: condition)
default: fail("no chip is called \(kind)")
}

let clock = ContinuousClock()
var servedAt = clock.now
while let request = read(1)?.first {
    // What passes for the host passes for the cards.
    field.pass(sharedClock?.takePause() ?? clock.now - servedAt)
    defer {
        servedAt = clock.now
        sharedClock?.set(field.now)
    }
    switch request {
    case UInt8(ascii: "O"):
        guard let length = read(2), let bytes = read(Int(length[0]) | Int(length[1]) << 8) else { exit(1) }
        chip.receive(bytes)
        write([], length: chip.isUnplugged ? 0xFFFE : 0)
    case UInt8(ascii: "I"):
        if let bytes = chip.nextTransfer() {
            write(bytes, length: bytes.count)
        } else {
            write([], length: chip.isUnplugged ? 0xFFFE : 0xFFFF)
        }
    case UInt8(ascii: "C"): (chip as? VirtualPN53xUSB)?.configure()
    case UInt8(ascii: "R"): chip.reset()
    case UInt8(ascii: "E"): field.removeCards()
    case UInt8(ascii: "P"): try field.place(cardFile: TestFiles.read(card))
    default:
        let found = chip.statistics
        let complaints = found.complaints.map { "\"\($0)\"" }.joined(separator: ",")
        let text = """
            {"transfersFromHost":\(found.transfersFromHost),"transfersToHost":\(found.transfersToHost),\
            "hostCommands":\(found.hostCommands),"exchanges":\(found.exchanges),\
            "answeredExchanges":\(found.answeredExchanges),"isFieldOn":\(found.isFieldOn),"complaints":[\(complaints)]}
            """
        write(Array(text.utf8), length: text.utf8.count)
    }
}
