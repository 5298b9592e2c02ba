// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import NFCTransport
import PCSCReader
import ReaderDiagnosis

/// Why pcscd gives no readers, and the one command that mends it.
struct ChipCardServiceFault {
    let reason: UnavailableReason
    /// What was found, in both languages, with what mends it.
    let check: Check

    /// What keeps the service from being used now; `nil` when it can be used.
    static func now() -> ChipCardServiceFault? {
        PCSCDriver().obstacle().flatMap(ChipCardServiceFault.init)
    }

    /// What the service's error comes from; `nil` when the service is not to blame.
    init?(_ error: TransportError) {
        guard case .readerUnavailable(let reason, _) = error else { return nil }
        let found = ChipCardService(Machine(environment: SystemEnvironment.all)).check()
        switch (reason, found.verdict) {
        case (.absent, .fault), (.permission, .fault): check = found
        case (.permission, _): check = Check(.serviceRefuses, ChipCardServiceFault.user)
        // The socket is there, and nobody answers at it.
        case (.absent, _): check = Check(.serviceSilent)
        default: return nil
        }
        self.reason = check.code == .serviceClosed ? .permission : reason
    }

    var message: String { check.message[Language.current] }
    var remedy: String? { check.remedy?[Language.current] }

    /// The user's name as it may stand within quotes.
    private static var user: String {
        let name = getpwuid(geteuid()).flatMap { $0.pointee.pw_name.map { String(cString: $0) } } ?? ""
        let isPlain = name.utf8.allSatisfy { byte in
            Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber || byte == 0x2D
                || byte == 0x5F || byte == 0x2E
        }
        return isPlain && !name.isEmpty ? name : "USER"
    }

    /// An ID that only pcscd can serve.
    static func serves(_ id: String) -> Bool { id.hasPrefix("pcsc:") }
}

extension Failure {
    /// Why a reader could not be opened: where the service of chip cards is to blame, what mends that.
    static func opening(_ id: String, _ error: TransportError) -> Failure {
        var failure = Failure(error, isOpening: true)
        guard ChipCardServiceFault.serves(id), PCSCDriver().obstacle() != nil,
            let fault = ChipCardServiceFault(error)
        else { return failure }
        failure.reason = fault.reason.rawValue
        failure.message = tr("no reader: \(fault.message)", "リーダーが見つかりません（\(fault.message)）")
        failure.hint = fault.remedy
        return failure
    }
}
