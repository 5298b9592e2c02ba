// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816
import NFCForumTags
import PN53xReader
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// A MIFARE DESFire with twenty applications: what looking at all of them costs.
extension GoalFigureTests {
    /// Twenty applications with two AES keys and two files each, of which everybody may read the settings.
    private static var manyApplications: [UInt8] {
        let applications = (1...20).map { number in
            """
            {"aid":"F5A1\(number < 10 ? "0" : "")\(number)","settings":"0F","keyType":"aes",\
            "keys":["00112233445566778899AABBCCDDEEFF","101112131415161718191A1B1C1D1E1F"],"versions":[1,2],"files":[\
            {"number":1,"type":"standard","mode":"full","access":"1200","data":"00","size":64},\
            {"number":2,"type":"value","mode":"full","access":"1220","value":\(number),"lower":0,"upper":99}]}
            """
        }
        return Array(
            """
            {"schema":"kazasu.card/1","typeA":{"uid":"04DE5F1EA5C0DE","atqa":"0344","sak":"20","ats":"067577810280"},\
            "desfire":{"version":"EV2","uid":"04DE5F1EA5C0DE","keyType":"des",\
            "keys":["30313233343536373031323334353637"],"applications":[\(applications.joined(separator: ","))]}}
            """.utf8)
    }

    /// What `desfire info` sends, from opening the reader on.
    ///
    /// - Parameter record: receives the lines of a recording of that.
    static func desfireInformation(record: ((String) -> Void)? = nil) throws -> Cost {
        let field = try VirtualField(cardFile: manyApplications)
        let server = try PN532Server(field: field)
        defer { server.stop() }
        let opened = try #require(
            try PN532Driver(patience: 60).open("pn532:\(server.path)", cancellation: CancellationToken()))
        let reader = record.map { RecordingReader(opened, write: $0) } ?? opened
        try readApplications(on: reader)
        reader.close()
        server.stop()
        return Cost(
            frames: field.statistics.exchanges, air: field.statistics.time / .milliseconds(1),
            line: server.statistics.lineTime / .milliseconds(1))
    }

    static func readApplications(on reader: any Reader) throws {
        let request = ActivationRequest.typeA()
        let picc = try #require(try reader.activate(request))
        let session = ISO7816Session(reader: reader, picc: picc, request: request)
        let information = try DESFireTag(session: session).information()
        #expect(information.applications.count == 20 && information.withheld.isEmpty)
        #expect(information.applications.allSatisfy { $0.files.count == 2 && $0.keyVersions == [1, 2] })
    }

    @Test("A DESFire with 20 applications is listed in 1.2 s of the simulated chip, the same each time")
    func desfireWithTwentyApplications() throws {
        let cost = try Self.desfireInformation()
        #expect(cost.sum <= 1200, "\(cost)")
        #expect(try Self.desfireInformation().description == cost.description)
    }
}
