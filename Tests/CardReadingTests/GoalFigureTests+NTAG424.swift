// SPDX-License-Identifier: Apache-2.0

import ISO7816
import NFCForumTags
import PN53xReader
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// An NTAG 424 DNA that gets contents, keys, rights and a URL: what setting it up costs.
extension GoalFigureTests {
    /// What `tag provision` sends, from opening the reader on.
    static func ntag424Setup() throws -> Cost {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/virtual/ntag424-factory.json"))
        let server = try PN532Server(field: field)
        defer { server.stop() }
        let reader = try #require(
            try PN532Driver(patience: 60).open("pn532:\(server.path)", cancellation: CancellationToken()))
        let request = ActivationRequest.typeA()
        let picc = try #require(try reader.activate(request))
        var keys = TagKeys()
        try keys.add(file: TestFiles.read("Fixtures/provision/ntag424-keys.txt"))
        let provisioner = TagProvisioner(
            session: ISO7816Session(reader: reader, picc: picc, request: request),
            plan: try TagPlan(TestFiles.read("Fixtures/provision/ntag424-plan.json")), old: .factory, new: keys,
            rules: TagSecretRules(), journal: { _ throws(TagProvisionError) in })
        let survey = try provisioner.survey(assumesFactory: true, allowsPermanent: false)
        try provisioner.prove(survey)
        #expect(try provisioner.run().isVerified)
        reader.close()
        server.stop()
        return Cost(
            frames: field.statistics.exchanges, air: field.statistics.time / .milliseconds(1),
            line: server.statistics.lineTime / .milliseconds(1))
    }

    @Test("An NTAG 424 DNA is set up in 2 s of the simulated chip")
    func ntag424() throws {
        let cost = try Self.ntag424Setup()
        #expect(cost.sum <= 2000, "\(cost)")
    }
}
