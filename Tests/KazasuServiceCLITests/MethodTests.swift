// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import CommandDescription
import Kazasu
import ReaderCore
import SharedReaders
import Synchronization
import TestSupport
import Testing

@testable import KazasuCLI
@testable import Server
@testable import KazasuServiceCLI

/// The commands as methods for clients of the network.
@Suite("Methods of serve", .waits)
struct MethodTests {
    private static let network = ServiceRequest.Origin.network(allowed: [])

    init() { OwnProgramCommands.install() }

    private static func method(_ name: String) throws -> CommandMethod {
        try #require(OwnProgramCommands.methods.first { $0.name == name })
    }

    private static func parameters(_ name: String, _ params: JSONObject) throws -> CommandParameters {
        try CommandParameters(params, of: method(name), from: network)
    }

    @Test(
        "Every method is a command of the program, with parameters and a schema",
        arguments: OwnProgramCommands.methods.map(\.name))
    func commands(_ name: String) throws {
        let method = try Self.method(name)
        for schema in [method.schema, method.declared.otherSchema].compactMap(\.self) {
            #expect(ServiceSchemas.components(at: "#/")[schema] != nil)
        }
        let names = method.method(isLocal: true).parameters.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test("Every command is a method, or says why not; no two methods have a name, a route or a function in common")
    func everyCommand() {
        var missing: [String] = []
        for (words, command) in OwnProgramCommands.all {
            guard let command = command as? any KazasuCommand.Type else {
                missing.append(words.joined(separator: " "))
                continue
            }
            if case .none(let reason) = command.programAccess { #expect("\(reason)".contains(" "), "\(words)") }
            if case .methods(let methods) = command.programAccess { #expect(!methods.isEmpty, "\(words)") }
        }
        #expect(missing == ["completion"], "a script for shells is for no program")
        let methods = OwnProgramCommands.methods
        #expect(Set(methods.map(\.name)).count == methods.count)
        #expect(Set(methods.map(\.declared.pythonName)).count == methods.count)
        let paths = methods.compactMap { $0.route.map { "\($0.verb) \($0.path)" } }
        #expect(Set(paths).count == paths.count)
    }

    @Test(
        "A command has every option that its method omits, fixes or requires",
        arguments: OwnProgramCommands.methods.map(\.name))
    func declared(_ name: String) throws {
        let method = try Self.method(name)
        let spec = CommandSpec(method.command)
        let fixed = (method.declared.fixed + method.declared.networkFixed).filter { $0.count > 2 }
        for option in fixed + method.declared.omitted.map({ "--" + $0 }) {
            #expect(spec.option(option) != nil, "\(option)")
        }
        let names = Set(method.options.map(\.parameter.name))
        #expect(method.declared.required.isSubset(of: names))
        if let argument = method.declared.argument { #expect(names.contains(argument)) }
    }

    @Test("No method of the network has a key, a PIN or a number of a document as its parameter")
    func secrets() {
        for method in CommandMethod.ofNetwork {
            for parameter in method.parameters {
                #expect(!parameter.name.hasSuffix("From"), "\(method.name) \(parameter.name)")
                #expect(!["keys", "seen", "ca", "ledger"].contains(parameter.name), "\(method.name) \(parameter.name)")
            }
        }
        let documents = Set(IdentityReport.kinds.map { $0.kind.rawValue }).union(["check"])
        for method in OwnProgramCommands.methods where documents.contains(method.schema ?? "") {
            // What a card tells everybody needs no permission.
            let isFree = method.declared.networkFixed.contains("--free")
            #expect(method.route == nil || method.permission == .ids || isFree, "\(method.name)")
        }
    }

    /// What a client of the network must not name.
    static let refused: [(String, JSONObject)] = [
        ("card.balance", JSONObject([("reader", "virtual:card.json")])),
        ("card.balance", JSONObject([("reader", "replay:trace")])),
        ("card.balance", JSONObject([("keep", true)])),
        ("card.balance", JSONObject([("keep", true), ("ledger", "file")])),
        ("card.balance", JSONObject([("timeout", 61)])),
        ("card.balance", JSONObject([("timeout", "forever")])),
        ("card.history", JSONObject([("stations", "table.tsv")])),
        ("card.history", JSONObject([("stations", ["none", "table.tsv"])])),
        ("card.license", JSONObject([("pin1From", "env:PIN")])),
        ("card.mynumber", JSONObject([("pinFrom", "file:pin")])), ("card.mynumber", JSONObject([("face", true)])),
        ("card.mynumber", JSONObject([("numberFrom", "file:number")])),
        ("card.mynumber", JSONObject([("ca", ["/etc/passwd"])])),
        ("card.apdu", JSONObject([("commands", ["00200081PIN1"]), ("pin1From", "fd:3")])),
        ("tag.info", JSONObject([("keyFrom", "file:key")])),
        ("card.residence", JSONObject([("numberFrom", "env:NUMBER")])),
        ("card.residence", JSONObject([("ca", ["/etc/passwd"])])),
        ("passport.files", JSONObject([("text", "{}"), ("mrzFrom", "env:MRZ")])),
        ("passport.files", JSONObject([("text", "{}"), ("ca", ["/etc/passwd"])])),
        ("passport.files", JSONObject([("text", "{}"), ("photo", "/tmp/x")])),
        ("card.residence", JSONObject([("photo", "/tmp/x")])), ("card.residence", JSONObject([("check", true)])),
        ("classic.info", JSONObject([("keyFrom", "env:KEY")])),
        ("classic.info", JSONObject([("keys", ["/etc/passwd"])])),
        ("card.write", JSONObject([("service", "2009"), ("block", 0), ("hex", ["00"])])),
        (
            "card.write",
            JSONObject([
                ("service", "2009"), ("block", 0), ("hex", ["00"]), ("confirm", "01"), ("keys", ["/etc/passwd"]),
            ])
        ), ("standard.info", JSONObject([("keys", ["/etc/passwd"])])), ("standard.info", JSONObject([("retry", true)])),
        ("card.balance", JSONObject([("keys", ["/etc/passwd"])])),
        ("card.history", JSONObject([("keys", ["/etc/passwd"])])),
        ("classic.message", JSONObject([("keys", ["/etc/passwd"])])),
        ("tag.verify", JSONObject([("url", "https://x.example")])),
        ("stations.lookup", JSONObject([("queries", ["0-3-13"]), ("stations", ["/etc/passwd"])])),
        ("tag.write", JSONObject([("text", "a")])),
        ("tag.write", JSONObject([("text", "a"), ("yes", true)])),
        ("tag.write", JSONObject([("mime", ["text/plain=@/etc/passwd"]), ("confirm", "04")])),
        ("ledger.list", JSONObject([("ledger", "file")])),
        ("decode", JSONObject([("text", "a"), ("keep", true)])),
    ]

    @Test("A confirmation answers a command that asks; one that does not ask gets no option for it")
    func confirmation() throws {
        let writing = OwnProgramCommands.methods.filter { $0.permission == .write && $0.route != nil }
        #expect(Set(writing.map(\.asks)) == [true, false])
        for method in writing {
            var params = JSONObject([("confirm", "04A1")])
            for option in method.options where option.parameter.isRequired {
                let value: JSONValue =
                    switch option.parameter.kind {
                    case .list, .names: ["00"]
                    case .integer, .number: 0
                    case .text, .flag: "00"
                    }
                params[option.parameter.name] = value
            }
            let parameters = try CommandParameters(params, of: method, from: Self.network)
            #expect(parameters.confirmed == "04a1", "\(method.name)")
            #expect(parameters.arguments.contains("--yes") == method.asks, "\(method.name)")
        }
    }

    @Test("Clients of the network name no file, PIN or simulated reader", arguments: refused.indices)
    func refusesLocalThings(_ index: Int) {
        let (name, params) = Self.refused[index]
        let error = #expect(throws: CommandError.self) { try Self.parameters(name, params) }
        #expect(error?.status == .usage, "\(name) \(params)")
    }

    @Test("Without a PIN, licences and My Number cards give what is free")
    func free() throws {
        for name in ["card.license", "card.mynumber"] {
            #expect(try Self.parameters(name, JSONObject()).arguments.contains("--free"))
        }
        let none = try Self.parameters("card.history", JSONObject([("stations", "none")]))
        #expect(none.arguments.contains("--stations=none"))
    }

    @Test(
        "What the server does not allow is refused before anything else", arguments: ServiceMethod.Permission.allCases)
    func permissions(_ permission: ServiceMethod.Permission) async throws {
        let methods = CommandMethods(on: .forCommands(), Redaction(isOn: false), isLocal: false)
        for method in methods.methods where method.permission == permission {
            do throws(ServiceFailure) {
                _ = try await methods.call(method.name, ServiceRequest(JSONObject(), from: Self.network))
                Issue.record("\(method.name) was allowed")
            } catch {
                guard case .notAllowed(permission) = error else {
                    Issue.record("\(method.name): \(error)")
                    continue
                }
                #expect(error.document(.english)?["reason"] == "notAllowed")
            }
        }
        #expect(methods.methods.contains { $0.permission == permission })
    }

    @Test("A client of the network opens no device by its path")
    func devices() async throws {
        let methods = CommandMethods(on: .forCommands(), Redaction(isOn: false), isLocal: false)
        let params = JSONObject([("reader", "pn532_uart:/dev/ttyS0:115200"), ("timeout", 0)])
        do throws(ServiceFailure) {
            _ = try await methods.call("card.poll", ServiceRequest(params, from: Self.network))
            Issue.record("it was opened")
        } catch {
            guard case .failed(.usage, let document) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(document["reason"] == "unknownReader")
        }
    }

    // MARK: Feedback

    /// A reader whose lights are noted, or that has none, or that is pulled out.
    private final class Gate: Reader {
        enum Kind: CaseIterable { case lit, dark, pulled }

        let information = ReaderInformation(id: "gate", name: "gate")
        private let kind: Kind
        private let note: @Sendable (ReaderSignal) -> Void

        init(_ kind: Kind, note: @escaping @Sendable (ReaderSignal) -> Void) { (self.kind, self.note) = (kind, note) }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { nil }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] { throw .noAnswer }
        func show(_ signal: ReaderSignal) throws(TransportError) -> Bool {
            note(signal)
            if kind == .pulled { throw .readerUnavailable(reason: .absent, detail: .init(.unplugged)) }
            return kind == .lit
        }
        func close() {}
    }

    /// What a caller gets, as the reason of an error, or `shown`.
    private static func feedback(
        _ params: JSONObject, _ kind: Gate.Kind = .lit, isLocal: Bool = false,
        _ note: @escaping @Sendable (ReaderSignal) -> Void = { _ in }
    ) async -> String? {
        let readers = SharedReaders(
            linger: .zero, patience: .seconds(600),
            open: { id, _ throws(KazasuError) in
                guard id == "gate" else { throw .unknownReader(id) }
                return Gate(kind, note: note)
            }, choose: { () throws(KazasuError) in "gate" })
        readers.setNames([("front", "gate")])
        let methods = CommandMethods(on: readers, Redaction(isOn: false), isLocal: isLocal)
        let origin: ServiceRequest.Origin = isLocal ? .standardInput : .network(allowed: [.feedback])
        let reason: String?
        do throws(ServiceFailure) {
            let result = try await methods.call("reader.feedback", ServiceRequest(params, from: origin))
            let document: JSONObject? = if case .object(let object) = result { object } else { nil }
            #expect(document?["pattern"] == params["pattern"])
            #expect(document?["schema"] == "kazasu.feedback/1")
            reason = "shown"
        } catch {
            reason = if case .string(let text)? = error.document(.english)?["reason"] { text } else { nil }
        }
        await readers.close()
        return reason
    }

    @Test("Feedback shows each pattern at the reader that was named", arguments: ReaderSignal.allCases, [false, true])
    func showsFeedback(signal: ReaderSignal, isLocal: Bool) async {
        let shown = Mutex<[ReaderSignal]>([])
        for reader in ["front", "gate", nil] as [String?] {
            let name = reader.map { [("reader", JSONValue.string($0))] } ?? []
            let params = JSONObject([("pattern", .string(signal.rawValue))] + name)
            #expect(
                await Self.feedback(params, isLocal: isLocal) { one in shown.withLock { $0.append(one) } } == "shown")
        }
        #expect(shown.withLock { $0 } == [signal, signal, signal])
    }

    @Test(
        "Feedback that cannot be shown",
        arguments: [
            ([("pattern", "yes"), ("reader", "back")], .lit, "unknownReader"),
            ([("pattern", "yes")], .dark, "noFeedback"), ([("pattern", "off")], .dark, "noFeedback"),
            ([("pattern", "yes")], .pulled, "absent"), ([("pattern", "green")], .lit, "usage"),
            ([("pattern", 1)], .lit, "usage"), ([], .lit, "usage"), ([("reader", "front")], .lit, "usage"),
            ([("pattern", "yes"), ("reader", 1)], .lit, "usage"), ([("pattern", "yes"), ("time", 1)], .lit, "usage"),
            ([("pattern", "yes"), ("reader", "virtual:card.json")], .lit, "usage"),
        ] as [([(String, JSONValue)], Gate.Kind, String)])
    private func refusesFeedback(_ params: [(String, JSONValue)], _ kind: Gate.Kind, _ reason: String) async {
        let found = await Self.feedback(JSONObject(params), kind)
        #expect(found == reason)
    }

    @Test("Progress counts what was read of all systems, and never goes back")
    func progress() {
        let steps = Mutex<[Int]>([])
        let host = CommandHost(for: .rpc) { done in steps.withLock { $0.append(done) } }
        for (system, nodes, blocks) in [
            (SystemCode.transit, 10, 0), (.transit, 20, 0), (.transit, 20, 15), (.commonArea, 3, 0),
            (.commonArea, 3, 4),
            // Looked for again.
            (.transit, 20, 15), (.commonArea, 1, 0),
        ] {
            host.report(ReadingProgress(system: system, nodes: nodes, blocks: blocks))
        }
        #expect(steps.withLock { $0 } == [10, 20, 35, 38, 42, 42, 42])
    }

    @Test("OpenAPI has each route once, and every reference leads somewhere")
    func openAPI() throws {
        let methods = CommandMethod.ofNetwork
        let document = ServiceDescription(methods, version: "1", language: .english).openAPI()
        let paths = try JSONCursor(document).required("paths").object()
        #expect(paths.members.count == methods.count)
        for method in methods {
            let route = try #require(method.route)
            let operation = try #require(paths[route.path]).self
            let verb = route.verb.rawValue.lowercased()
            #expect(try JSONCursor(operation).required(verb).required("operationId").text() == method.name)
        }
        var count = 0
        try References.each(in: document) { reference in
            count += 1
            var place = JSONCursor(document)
            for part in reference.dropFirst(2).split(separator: "/") { place = try place.required(String(part)) }
        }
        #expect(count > 100)
        // Parts of two schemas would be one there.
        var parts: [String] = []
        for document in ServiceSchemas.documents {
            guard let own = try JSONCursor(.object(document.schema)).optional("$defs")?.object() else { continue }
            for part in own.members {
                parts.append(try JSONCursor(part.value).optional("title")?.text() ?? part.key)
            }
        }
        #expect(Set(parts).count == parts.count)
        #expect(!document.compactText.contains("pin1From"))
    }
}

/// The references of a document.
enum References {
    static func each(in value: JSONValue, _ body: (String) throws -> Void) throws {
        switch value {
        case .array(let values): for value in values { try each(in: value, body) }
        case .object(let object):
            for member in object.members {
                if member.key == "$ref", case .string(let reference) = member.value {
                    try body(reference)
                } else {
                    try each(in: member.value, body)
                }
            }
        default: break
        }
    }
}
