// SPDX-License-Identifier: Apache-2.0

/// How a passport was opened.
public struct PassportAccess: Hashable, Sendable {
    /// The protocol.
    @nonexhaustive
    public enum Way: String, Hashable, Sendable, CaseIterable {
        /// Password authenticated connection establishment (ICAO Doc 9303-11 §4.4).
        case pace
        /// Basic access control (§4.3).
        case bac
        /// The chip asks for nothing.
        case none
    }

    /// What was typed from the document.
    @nonexhaustive
    public enum Password: String, Hashable, Sendable, CaseIterable {
        /// Number, birth date and expiry, from the machine-readable zone.
        case mrz
        /// The card access number.
        case can
    }

    /// The protocol.
    public let way: Way
    /// Its variant, such as `ECDH-GM-AES-128`; PACE only.
    public let variant: String?
    /// The name of the curve or group, such as `brainpoolP256r1`; PACE only.
    public let parameters: String?
    /// What opened the passport; `nil` where it asks for nothing.
    public let password: Password?
    /// Whether the chip lists PACE, and refused it for another reason than the password.
    public let isFallback: Bool

    package init(
        _ way: Way, variant: String? = nil, parameters: String? = nil, password: Password? = nil,
        isFallback: Bool = false
    ) {
        self.way = way
        self.variant = variant
        self.parameters = parameters
        self.password = password
        self.isFallback = isFallback
    }

    /// `access` of documents.
    package var json: JSONValue {
        [
            "by": .string(way.rawValue), "protocol": .text(variant), "parameters": .text(parameters),
            "password": .text(password?.rawValue),
        ]
    }
}

/// What a chip answered to the question whether it is a copy. Whose key it has is another question, which signatures answer.
package struct ChipEvidence: Hashable, Sendable {
    /// Why an exchange that the chip offers was not done.
    package enum Obstacle: String, Hashable, Sendable, CaseIterable {
        /// An algorithm, a curve or a kind of key that is not known here.
        case algorithm
        /// The chip refused.
        case refused
        /// The reader cannot carry the exchange.
        case reader
        /// There is no chip: the data comes from files.
        case offline
    }

    /// Active authentication: the signature of a challenge.
    package enum Active: Hashable, Sendable {
        case answered(challenge: [UInt8], signature: [UInt8])
        case notDone(Obstacle)
    }

    /// Chip authentication: an agreement with the chip's static key.
    package enum Static: Hashable, Sendable {
        /// The chip answered under keys that only the private key gives.
        case proved(SecurityInfos.ChipProtocol)
        /// It could not.
        case failed(SecurityInfos.ChipProtocol)
        case notDone(Obstacle)
    }

    /// Chip-authentication mapping: what the chip sent at the end of PACE.
    package struct MappingProof: Hashable, Sendable {
        package let info: PACEInfo
        /// The chip's public key of the mapping.
        package let chipKey: [UInt8]
        /// The chip authentication data; `nil` if it sent none that could be decrypted.
        package var data: [UInt8]?
        /// The exchange from which it can be computed again.
        package var record: MappingRecord?

        package init(info: PACEInfo, chipKey: [UInt8], data: [UInt8]?, record: MappingRecord? = nil) {
            (self.info, self.chipKey, self.data, self.record) = (info, chipKey, data, record)
        }
    }

    package var active: Active?
    package var chip: Static?
    package var mapping: MappingProof?
    /// The exchange that decided ``chip``, or that will when it is replayed.
    package var agreement: AgreementRecord?
    /// The exchange that a saved ``mapping`` is computed from.
    package var mappingRecord: MappingRecord?
    /// Whether there is no chip: what is here was saved earlier.
    package var isOffline = false

    package init(active: Active? = nil, chip: Static? = nil, mapping: MappingProof? = nil) {
        (self.active, self.chip, self.mapping) = (active, chip, mapping)
    }
}
