// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// A setup or a key change on a reader that others want as well. It is stopped between two steps, so that nothing is a race.
@Suite("A setup beside services", .waits, .timeLimit(.minutes(5)))
struct SetupBesideServicesTests {
    /// A card, and the command that changes its keys; `Fixtures/` is replaced.
    struct Setup: CustomTestStringConvertible, Sendable {
        let card, words: String
        var testDescription: String { words }
    }

    static let setups = [
        Setup(
            card: "virtual/ntag424-factory",
            words: "tag provision --plan Fixtures/provision/ntag424-plan.json"
                + " --new-keys Fixtures/provision/ntag424-keys.txt"),
        Setup(
            card: "virtual/desfire-factory",
            words: "tag provision --plan Fixtures/provision/desfire-plan.json"
                + " --new-keys Fixtures/provision/desfire-keys.txt"),
        Setup(
            card: "felica/standard-keys",
            words: "standard keys --keys Fixtures/felica/standard-keys.txt"
                + " --new-keys Fixtures/provision/standard-new-keys.txt"),
        Setup(
            card: "felica/standard-blank",
            words: "standard issue --profile Fixtures/provision/standard-profile.json"
                + " --keys Fixtures/provision/standard-seller-keys.txt"
                + " --new-keys Fixtures/provision/standard-issued-keys.txt"),
    ]

    @Test("Others are told that the reader is in use, it ends whole, and then watch sees the card", arguments: setups)
    func busy(_ setup: Setup) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(TestFiles.read("Fixtures/\(setup.card).json"), as: "card.json")
        let simulator = try RunningChild(
            Service.kazasu, ["simulate", file, "--link", "\(folder.path)/card"], environment: Service.environment,
            limit: .seconds(240))
        let reader = try #require(try simulator.line(of: .output))
        let journal = "\(folder.path)/journal"
        let words = setup.words.replacing("Fixtures/", with: "\(TestFiles.root)/Fixtures/").split(separator: " ")
        let child = try RunningChild(
            Service.kazasu,
            words.map(String.init)
                + ["--yes", "--json", "--journal", journal, "-r", reader, "--trace", "/dev/stderr"],
            environment: Service.environment.merging(["XDG_STATE_HOME": folder.path]) { $1 }, limit: .seconds(240))
        // The first line is what is done, the second the first step, which is on the disk before it is taken.
        func steps() -> Int { (try? TestFiles.read(journal))?.count { $0 == UInt8(ascii: "\n") } ?? 0 }
        while steps() < 2 { _ = try #require(try child.line(of: .errors), "ended without a step") }
        child.send(SIGSTOP)
        let rpc = try RPCProgram(["-r", reader])
        let error = try rpc.error("card.dump", [:])
        #expect(try error.required("data").required("reason").text() == "busy")
        let watch = try Service.watch("-r", reader)
        #expect(try watch.message(containing: "the reader is in use").contains(folder.path))
        child.send(SIGCONT)
        let result = child.finish()
        #expect(result.end == .exited(0), "\(result)")
        _ = try watch.event(of: "on")
        watch.send(SIGTERM)
        #expect(watch.finish().end == .exited(0))
        #expect(rpc.finish().end == .exited(0))
        simulator.send(SIGINT)
        #expect(simulator.finish().end == .exited(0))
    }
}
