// SPDX-License-Identifier: Apache-2.0

// The commands of FeliCa themselves: Polling in an order of one's own, Request Service, blocks of three services in one read, and
// with the argument `write` a block of a FeliCa Lite-S.
import Kazasu

let arguments = CommandLine.arguments.dropFirst()
let reader = try openReader(arguments.first)

// The first of these systems that the card has is selected, whatever their order on the card.
guard let system = try reader.pollFeliCa([.lite, .transit]) else { fatalError("no such card is on the reader") }
print("IDm", system.idm, "PMm", system.pmm)

if system.pmm.icType == 0xF1 {
    // FeliCa Lite-S: any reader may write blocks 0 to 13 of a card that was not locked.
    let (service, number) = (ServiceCode(rawValue: 0x0009), UInt16(13))
    let before = try system.readWithoutEncryption(service, blocks: [number])
    print("block 0D", before)
    if arguments.contains("write"), let block = Block(Array("written by Swift".utf8)) {
        try system.writeWithoutEncryption(services: [service], blocks: BlockList(numbers: [number]), data: [block])
        print("block 0D", try system.readWithoutEncryption(service, blocks: [number]))
    }
} else {
    let services = [0x008B, 0x090F, 0x108F].map { ServiceCode(rawValue: $0) }
    let versions = try system.requestService(services.map(\.node))
    for (service, version) in zip(services, versions) {
        print("service", service, version.map { "has key version \($0)" } ?? "does not exist")
    }
    // One command for the attributes, the newest two journeys, and the last gate.
    let list: BlockList = [
        .init(serviceIndex: 0, number: 0),
        .init(serviceIndex: 1, number: 0), .init(serviceIndex: 1, number: 1),
        .init(serviceIndex: 2, number: 0),
    ]
    let blocks = try system.readWithoutEncryption(services: services, blocks: list)
    for block in blocks { print(block) }
    print("mode", try system.send(RequestMode()))
}

/// A command of one's own, as one is written that Kazasu does not have: Request Response (04).
struct RequestMode: FeliCaCommand {
    static let code = CommandCode(rawValue: 0x04)

    func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> UInt8 { try answer.uint8() }

    func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}
