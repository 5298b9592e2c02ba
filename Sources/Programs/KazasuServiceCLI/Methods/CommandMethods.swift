// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Kazasu
import KazasuCLI
import ReaderCore
import SharedReaders
import KazasuLedger
import Server

/// The commands of the program as methods of `serve` and `rpc`, on readers that clients share.
final class CommandMethods: ServiceMethods {
    private let isLocal: Bool
    private let commands: [String: CommandMethod]
    private let readers: SharedReaders
    private let redaction: Redaction
    private let ledger: @Sendable () -> String?
    /// Decides the words of messages.
    private let caller: Caller

    /// - Parameters:
    ///   - isLocal: whether only the process that started Kazasu calls them.
    ///   - ledger: the ledger of a server now; `nil` for the usual one.
    init(
        on readers: SharedReaders, _ redaction: Redaction, isLocal: Bool,
        ledger: @escaping @Sendable () -> String? = { nil }
    ) {
        (self.readers, self.redaction, self.isLocal, self.ledger) = (readers, redaction, isLocal, ledger)
        caller = isLocal ? .ofProcess : .http
        let methods = CommandMethod.all.filter { isLocal || $0.route != nil }
        commands = Dictionary(uniqueKeysWithValues: methods.map { ($0.name, $0) })
    }

    var methods: [ServiceMethod] { isLocal ? CommandMethod.ofProcess : CommandMethod.ofNetwork }

    /// What a command answered, and why it failed.
    private typealias Answer = (answer: CommandAnswer, failure: CommandError?)

    func call(_ name: String, _ request: ServiceRequest) async throws(ServiceFailure) -> JSONValue {
        if name == ReaderFeedback.method.name { return try await feedback(request) }
        guard let method = commands[name] else { throw .unknownMethod }
        var isLocal = true
        if case .network(let allowed) = request.origin {
            isLocal = false
            if let permission = method.permission, !allowed.contains(permission) { throw .notAllowed(permission) }
        }
        let parameters: CommandParameters
        // Used by one thread after the other.
        nonisolated(unsafe) let command: any KazasuCommand
        do throws(CommandError) {
            parameters = try CommandParameters(request.params, of: method, from: request.origin)
            let place = method.words.first == "ledger" ? ledger().map { ["--ledger=\($0)"] } ?? [] : []
            command = try CommandHost.parse(
                method.command, named: method.words, place + parameters.arguments, for: caller)
        } catch {
            throw .badParameters(document(error))
        }
        let (redaction, caller) = (redaction, caller)
        guard method.declared.subject == .card else {
            let result = await withTaskExecutorPreference(WorkExecutor.shared) {
                await self.computed(command, parameters.input, method, request)
            }
            return try result.get()
        }
        let answer: Answer
        do throws(KazasuError) {
            if !isLocal, let reader = parameters.reader, !readers.isKnown(reader) { try await checkListed(reader) }
            answer = try await readers.run(on: parameters.reader, timeout: parameters.timeout) { turn in
                let host = CommandHost(for: caller, confirmed: parameters.confirmed) { request.progress($0, nil) }
                let failure = host.run(command, on: turn.reader, redaction: redaction, cancellation: turn.cancellation)
                // What was heard may become a card.
                let mayCome = failure?.status == .noCard || failure?.reason == "notSelected"
                return mayCome ? .noCard((host.answer, failure)) : .done((host.answer, failure))
            }
        } catch {
            if error == .cancelled { throw .cancelled }
            throw failure(readerFailure(error))
        }
        return try result(of: method, answer, request)
    }

    /// Shows a signal at a reader.
    private func feedback(_ request: ServiceRequest) async throws(ServiceFailure) -> JSONValue {
        var isLocal = true
        if case .network(let allowed) = request.origin {
            isLocal = false
            guard allowed.contains(.feedback) else { throw .notAllowed(.feedback) }
        }
        let wanted: ReaderFeedback.Request
        do throws(CommandError) {
            wanted = try ReaderFeedback.Request(request.params, isLocal: isLocal)
        } catch {
            throw .badParameters(document(error))
        }
        let isShown: Bool
        do throws(KazasuError) {
            if !isLocal, let reader = wanted.reader, !readers.isKnown(reader) { try await checkListed(reader) }
            isShown = try await readers.show(wanted.signal, at: wanted.reader)
        } catch {
            if error == .cancelled { throw .cancelled }
            throw failure(readerFailure(error))
        }
        guard isShown else { throw failure(ReaderFeedback.noFeedback) }
        return wanted.document
    }

    /// Runs a command that needs no reader. It does not begin if nobody waits for it any more, and is told if that happens
    /// later.
    private func computed(
        _ command: any KazasuCommand, _ input: [UInt8]?, _ method: CommandMethod,
        _ request: ServiceRequest
    ) async -> Result<JSONValue, ServiceFailure> {
        let cancellation = CancellationToken()
        return await withTaskCancellationHandler {
            if cancellation.isCancelled { return .failure(.cancelled) }
            let host = CommandHost(for: caller, input: input)
            let failure = host.run(command, on: nil, redaction: redaction, cancellation: cancellation)
            do throws(ServiceFailure) {
                return .success(try result(of: method, (host.answer, failure), request))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// The result of a method whose command answered this.
    private func result(
        of method: CommandMethod, _ answer: Answer, _ request: ServiceRequest
    ) throws(ServiceFailure) -> JSONValue {
        if Task.isCancelled { throw .cancelled }
        // A shell gets a no as its status, a program in the document.
        if let failure = answer.failure, failure.status != .negative {
            throw self.failure(failure, answer.answer.document)
        }
        if method.printsText {
            let format = if case .string(let format)? = request.params["to"] { format } else { "html" }
            let bytes = answer.answer.bytes
            guard DumpFileFormat(rawValue: format)?.isText != false else {
                return ["format": .string(format), "base64": .string(Data(bytes).base64EncodedString())]
            }
            return ["format": .string(format), "text": .string(String(decoding: bytes, as: UTF8.self))]
        }
        guard let result = answer.answer.document else {
            // Each dump has a document of its own.
            if method.declared.subject == .dump { throw failure(Self.severalDumps) }
            throw failure(.bug("\(method.name): the answer is not one document"))
        }
        return method.name == "readers.list" ? withOpenReaders(result) : result
    }

    /// Why a reader cannot be used, with the names that the caller may give.
    private func readerFailure(_ error: KazasuError) -> CommandError {
        var failure = CommandHost.$current.withValue(CommandHost(for: caller)) { CommandError.of(reader: error) }
        let names = readers.allNames
        if case .unknownReader = error, !names.isEmpty {
            let list = names.joined(separator: tr(", ", "、"))
            let known = tr("the readers are \(list)", "使えるリーダーは \(list) です")
            failure.hint = isLocal ? failure.hint.map { known + tr("; ", "。") + $0 } ?? known : known
        }
        return failure
    }

    /// A client of the network may use a reader that is connected, but open no other device.
    private func checkListed(_ reader: String) async throws(KazasuError) {
        let isListed = await BlockingWork.runUnlessCancelled {
            let reader = ReaderRegistry.lastingID(of: reader)
            return ReaderRegistry.list().contains { $0.id == reader || $0.id.hasPrefix(reader + ":") }
        }
        guard let isListed else { throw .cancelled }
        guard isListed else { throw .unknownReader(reader) }
    }

    // MARK: Documents

    private static var severalDumps: CommandError {
        CommandError(.methodSeveralDumps)
    }

    private func failure(_ error: CommandError, _ partial: JSONValue? = nil) -> ServiceFailure {
        var document = document(error)
        if let partial { document["partial"] = partial }
        return .failed(error.status, document)
    }

    private func document(_ error: CommandError) -> JSONObject {
        if case .object(let document) = RedactionGate.shared.masked(error.json) { document } else { JSONObject() }
    }

    /// Readers that are open here look busy to the drivers, or are not listed at all; those that were named are listed also
    /// when they are not connected.
    private func withOpenReaders(_ document: JSONValue) -> JSONValue {
        guard case .object(var object) = document, case .array(let listed)? = object["readers"] else { return document }
        var list = listed.compactMap { if case .object(let members) = $0 { members } else { nil } }
        func place(of id: String) -> Int? {
            list.firstIndex { members in
                guard case .string(let listed)? = members["id"] else { return false }
                return listed == id || listed.hasPrefix(id + ":")
            }
        }
        for reader in readers.known {
            if let device = reader.device {
                let entry = JSONObject([
                    ("id", .string(device.id)), ("name", .string(device.name)), ("state", "ready"),
                ])
                if let place = place(of: device.id) { list[place] = entry } else { list.append(entry) }
            }
            let id = reader.device?.id ?? reader.id
            let index: Int
            if let place = place(of: id) {
                index = place
            } else {
                // What a driver finds at an ID such as virtual:FILE is known once somebody uses it.
                list.append(JSONObject([("id", .string(id)), ("name", nil), ("state", "unknown")]))
                index = list.count - 1
            }
            if let name = reader.name { list[index]["alias"] = .string(name) }
            list[index]["watched"] = .bool(reader.isWatched)
        }
        object["readers"] = .array(list.map { .object($0) })
        return .object(object)
    }
}
