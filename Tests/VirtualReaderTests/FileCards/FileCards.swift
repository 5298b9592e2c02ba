// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import Testing
import VirtualReader

/// Cards of files for tests.
enum FileCards {
    static let second = Duration.seconds(1)
    static let identity = TypeAIdentity(uid: [0x01, 0x02, 0x03, 0x04], sak: 0x20)

    /// A card whose answers are scripted, with this ATS.
    static func scripted(
        _ answers: [String: [String]], ats: String = "0578008102", _ isoDEP: ISODEPOptions = ISODEPOptions()
    ) throws -> VirtualFileCard {
        var options = FileCardOptions()
        for (command, responses) in answers {
            options.answers[try Hex.decode(command)] = try responses.map { try Hex.decode($0) }
        }
        return VirtualFileCard(
            .typeA(try #require(identity), ats: try Hex.decode(ats)), files: VirtualFileTree(), options: options,
            isoDEP: isoDEP)
    }

    /// A card of type A from the members of a card file.
    static func card(_ members: String, virtual: String = "{}") throws -> VirtualFileCard {
        let text = """
            {"schema": "kazasu.card/1", "typeA": {"uid": "01020304"}, \(members), "virtual": \(virtual)}
            """
        return try #require(try VirtualCardFile.loadCards(Array(text.utf8)).first as? VirtualFileCard)
    }

    /// A reader that the card lies on, already in ISO-DEP.
    static func reader(_ card: VirtualFileCard, apdu: Int = 70_000) throws -> InProcessReader {
        let reader = InProcessReader(
            VirtualField(cards: [card]),
            information: ReaderInformation(
                id: "x", name: "x", technologies: Technology.allCases, longestCommandAPDU: apdu,
                longestResponseAPDU: apdu))
        _ = try #require(try reader.activate(.typeA()))
        return reader
    }
}

extension InProcessReader {
    /// Sends an APDU in hexadecimal and gives the response in hexadecimal.
    func apdu(_ text: String) throws -> String {
        Hex.encode(try transceive(try Hex.decode(text), timeout: FileCards.second))
    }
}
