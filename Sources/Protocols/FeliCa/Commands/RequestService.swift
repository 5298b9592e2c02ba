// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel
package import ReaderCore

/// A command about 1 to 32 nodes, answered in their order.
package protocol NodeListCommand: FeliCaCommand {
    var nodes: [NodeCode] { get }
}

extension NodeListCommand {
    /// The number of nodes that one command can name.
    package static var allowedNodes: ClosedRange<Int> { 1...32 }

    /// Checks the number of nodes.
    package func validate() throws(FeliCaError) { try nodes.validateCount(.nodes, Self.allowedNodes) }

    /// The count and the nodes.
    package var parameters: [UInt8] { nodes.countedWireBytes }

    /// The variable class, one unit per node (felica-tool).
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.variable, units: nodes.count) }
}

/// Request Service (02): the existence and key versions of these nodes.
///
/// At most 32 nodes. IC 24 does not answer if one node has an attribute unknown to it.
package struct RequestService: NodeListCommand, Hashable, Sendable {
    /// `02`.
    package static let code = CommandCode.requestService

    /// The nodes; `NodeCode.system` is the system itself.
    package var nodes: [NodeCode]

    package init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Reads the key version of each node in the requested order; `nil` for a node that does not exist.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [KeyVersion?] {
        try answer.expectCount(nodes.count)
        return try answer.list(nodes.count) { (answer) throws(FeliCaError) in try answer.keyVersion() }
    }
}

extension RequestService {
    /// How many nodes one command can name so that the answer (11 bytes and 2 per node) fits a reader.
    package static func nodes(answeredIn reader: ReaderInformation) -> Int {
        max(1, min(allowedNodes.upperBound, (reader.longestFeliCaAnswer - 11) / 2))
    }
}

extension FeliCaSystem {
    /// Sends Request Service (02): which of these areas and services exist, and the versions of their keys.
    ///
    /// One command has room for 32 nodes, or as many as the reader passes on; more of them take several.
    ///
    /// - Parameter nodes: at least one; `NodeCode.system` is the system itself. Cards with IC 24 do not answer if
    ///   one has an attribute that they do not know.
    /// - Returns: the key versions in the order of the nodes; `nil` for a node that does not exist.
    /// - Throws: ``FeliCaError``.
    public func requestService(_ nodes: [NodeCode]) throws(FeliCaError) -> [KeyVersion?] {
        let longest = (channel as? any Reader).map { RequestService.nodes(answeredIn: $0.information) }
        let step = longest ?? RequestService.allowedNodes.upperBound
        guard nodes.count > step else { return try send(RequestService(nodes)) }
        var versions: [KeyVersion?] = []
        for start in stride(from: 0, to: nodes.count, by: step) {
            versions += try send(RequestService(Array(nodes[start...].prefix(step))))
        }
        return versions
    }
}

/// Request Service v2 (32): like Request Service, with separate AES and DES key versions.
package struct RequestServiceV2: NodeListCommand, Hashable, Sendable {
    /// `32`.
    package static let code = CommandCode.requestServiceV2

    /// The nodes, 1 to 32.
    package var nodes: [NodeCode]

    package init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Reads the encryption identifier and one or two lists.
    ///
    /// If the identifier does not determine the number of lists, the length does.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> ServiceVersions {
        try answer.expectSuccess()
        let encryption = EncryptionIdentifier(rawValue: try answer.uint8())
        try answer.expectCount(nodes.count)
        let first = try answer.list(nodes.count) { (answer) throws(FeliCaError) in try answer.keyVersion() }
        let hasSecond = encryption.listCount.map { $0 == 2 } ?? (answer.remaining > 0)
        guard hasSecond else { return ServiceVersions(encryption: encryption, first: first, second: nil) }
        let second = try answer.list(nodes.count) { (answer) throws(FeliCaError) in try answer.keyVersion() }
        return ServiceVersions(encryption: encryption, first: first, second: second)
    }
}

extension FeliCaSystem {
    /// Sends Request Service v2 (32), which cards with AES answer: the versions of AES and DES keys.
    ///
    /// - Parameter nodes: 1 to 32.
    /// - Throws: ``FeliCaError``.
    public func requestServiceV2(_ nodes: [NodeCode]) throws(FeliCaError) -> ServiceVersions {
        try send(RequestServiceV2(nodes))
    }
}

/// The answer to Request Service v2.
public struct ServiceVersions: Hashable, Sendable {
    /// The kinds of keys that the system has.
    public let encryption: EncryptionIdentifier
    /// The first list, in the requested order; `nil` for a node that does not exist or has no such key.
    public let first: [KeyVersion?]
    /// The second list, if there is one.
    public let second: [KeyVersion?]?

    /// The versions of the AES keys; `nil` if the answer has none, or its identifier is unknown.
    public var aes: [KeyVersion?]? {
        encryption.listCount == nil ? nil : first
    }

    /// The versions of the DES keys; `nil` if the answer has none, or its identifier is unknown.
    public var des: [KeyVersion?]? {
        switch encryption {
        case .des56, .des112: second ?? first
        case .aesAndDES56, .aesAndDES112: second
        default: nil
        }
    }
}

/// The kinds of keys of a system, in the answer to Request Service v2; unknown values are kept unchanged.
///
/// Source: the unofficial user's manual, felica-tool.
public struct EncryptionIdentifier: RawRepresentable, Hashable, Sendable {
    /// The byte.
    public let rawValue: UInt8

    /// Makes an identifier from its byte.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// `4F`: AES only.
    public static let aes = EncryptionIdentifier(rawValue: 0x4F)
    /// `41`: AES and 56-bit DES.
    public static let aesAndDES56 = EncryptionIdentifier(rawValue: 0x41)
    /// `43`: AES and 112-bit DES.
    public static let aesAndDES112 = EncryptionIdentifier(rawValue: 0x43)
    /// `3F`: 112-bit DES.
    public static let des112 = EncryptionIdentifier(rawValue: 0x3F)
    /// `2F`: 56-bit DES.
    public static let des56 = EncryptionIdentifier(rawValue: 0x2F)

    /// The number of lists of key versions in the answer; `nil` if no source gives it.
    var listCount: Int? {
        switch self {
        case .aes: 1
        case .aesAndDES56, .aesAndDES112: 2
        default: nil
        }
    }
}
