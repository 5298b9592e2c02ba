// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Kazasu

/// A line of `kazasu readers`: a reader that a driver lists, or a known reader that no driver can use.
package struct ListedReader: Equatable, Identifiable {
    /// The unique identifier: the value for `--reader`, or the port for a reader that no driver can use.
    package let id: String
    /// The value for `--reader`; `nil` when there is none.
    let readerID: String?
    package let name: String?
    package let state: ReaderListing.State
    let isConfigured: Bool
    let isVirtual: Bool
    /// The fix; `nil` when the reader can be used.
    package let hint: String?

    /// Every reader that is plugged in.
    ///
    /// - Parameter fault: why pcscd lists none.
    package static func all(without fault: ChipCardServiceError? = .now()) -> [ListedReader] {
        let reports = Doctor(Machine()).readers()
        let listings = listReaders()
        let strangers = reports.filter { $0.model.driver == nil }
        let served = fault.map { fault in
            Doctor(Machine()).readersOfService().map { ListedReader(name: $0, fault) }
        }
        return listings.filter { !ChipCardServiceError.serves($0.id) || $0.state == .ready }.map { listing in
            ListedReader(listing, reports.first { $0.isNamed(by: listing.id) })
        } + strangers.map(ListedReader.init) + (served ?? [])
    }

    /// A reader that pcscd would serve.
    private init(name: String, _ fault: ChipCardServiceError) {
        id = "pcsc \(name)"
        readerID = nil
        self.name = name
        state = .unavailable(fault.reason, detail: .init(.text, fault.message))
        (isConfigured, isVirtual) = (false, false)
        hint = fault.remedy
    }

    private init(_ listing: ReaderListing, _ report: ReaderReport?) {
        id = listing.id
        readerID = listing.id
        name = listing.name
        state = listing.state
        (isConfigured, isVirtual) = (listing.isConfigured, listing.isVirtual)
        if case .unavailable(let reason, let detail) = listing.state {
            hint = report?.fault?.hint ?? CommandError.hint(reason, detail)
        } else {
            hint = nil
        }
    }

    private init(_ report: ReaderReport) {
        id = report.device.node
        readerID = nil
        name = report.model.name
        let detail = report.model.obstacle?[Language.current] ?? ""
        state = .unavailable(.unsupported, detail: .init(.text, detail))
        (isConfigured, isVirtual) = (false, false)
        hint = report.fault?.hint
    }
}

extension Check {
    /// The fix, with commands in the caller's words.
    package var hint: String? { remedy(listing: Caller.current.command("readers"))?[Language.current] }
}

extension ListedReader {
    /// An entry of `kazasu.readers/1`.
    package var json: JSONObject {
        var object = JSONObject([("id", .text(readerID)), ("name", .text(name))])
        switch state {
        case .ready: object["state"] = "ready"
        case .unknown: object["state"] = "unknown"
        case .unavailable(let reason, let detail):
            object["state"] = "unavailable"
            object["reason"] = .string(reason.rawValue)
            object["detail"] = .string(detail.description)
            object["hint"] = .text(hint)
        }
        return object
    }

    /// ID, state, name and details, for a line.
    package var cells: [String] { [readerID ?? "-", word, name ?? "", detail] }

    private var word: String {
        switch state {
        case .ready: tr("ready", "使用可")
        case .unknown: tr("not checked", "未確認")
        case .unavailable(_, let detail) where detail.code == .hanging: tr("no answer", "応答なし")
        case .unavailable(let reason, _):
            switch reason {
            case .absent: tr("absent", "なし")
            case .busy: tr("busy", "使用中")
            case .permission: tr("no permission", "権限なし")
            case .unsupported: tr("unsupported", "未対応")
            }
        }
    }

    private var detail: String {
        switch state {
        case .ready where id.hasPrefix("acr122_usb:"):
            tr("without libnfc, and with its lights: acr122", "libnfc なしで、ランプも使う場合は acr122")
        case .ready where isVirtual: tr("virtual: used only if it is named", "仮想リーダー: 指定したときだけ使用")
        case .ready: ""
        case .unknown where isConfigured: tr("configured in libnfc", "libnfc に設定済み")
        case .unknown:
            // `pn532_uart:/dev/ttyUSB0`: a port of which only the name is known.
            tr(
                "a serial port that may have a PN532 (without libnfc: pn532\(id.drop { $0 != ":" }))",
                "シリアルポート（PN532 の可能性あり。libnfc なしで使う場合は pn532\(id.drop { $0 != ":" })）")
        case .unavailable(_, let detail): detail.words
        }
    }
}

/// The readers that cannot be used now, for a program that waits for one.
package struct ReaderObstacles {
    /// Whether any reader can be used.
    package let hasReady: Bool
    /// Each reader that cannot be used, with the reason and the fix.
    package let sentences: [String]
    package let isEmpty: Bool

    package static func now() -> ReaderObstacles {
        let readers = ListedReader.all()
        return ReaderObstacles(
            hasReady: readers.contains { $0.state == .ready && !$0.isVirtual },
            sentences: readers.compactMap { reader in
                guard case .unavailable(_, let detail) = reader.state else { return nil }
                return "\(reader.name ?? reader.id): \(detail.words)"
                    + (reader.hint.map { tr("; hint: ", "。ヒント: ") + $0 } ?? "")
            }, isEmpty: readers.isEmpty)
    }
}

/// Why pcscd lists no readers, and the one command that fixes it.
package struct ChipCardServiceError {
    package let reason: UnavailableReason
    /// The finding, in both languages, with its fix.
    package let check: Check

    /// The reason why the service cannot be used now; `nil` when it can.
    package static func now() -> ChipCardServiceError? {
        ReaderRegistry.serviceObstacle.flatMap(ChipCardServiceError.init)
    }

    /// The cause of the service's error; `nil` when the service is not to blame.
    package init?(_ error: TransportError) {
        guard case .readerUnavailable(let reason, let detail) = error else { return nil }
        let found = ChipCardService(Machine(environment: SystemEnvironment.all)).check()
        switch (reason, found.verdict) {
        case _ where detail.code == .hanging: check = Check(.serviceSilent)
        case (.absent, .fault), (.permission, .fault): check = found
        case (.permission, _): check = Check(.serviceRefuses, ChipCardServiceError.user)
        case (.absent, _) where detail.code == .serviceVersionMismatch: check = Check(.serviceVersionMismatch)
        case (.absent, _) where detail.code == .serviceLibraryMissing: check = Check(.serviceLibraryMissing)
        // The socket exists, but the service does not answer on it.
        case (.absent, _): check = Check(.serviceSilent)
        default: return nil
        }
        self.reason = check.code == .serviceClosed ? .permission : reason
    }

    package var message: String { check.message[Language.current] }
    package var remedy: String? { check.hint }

    /// The user's name, safe to use within quotes.
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

extension CommandError {
    /// Why a server's reader could not be opened, or failed.
    package static func of(reader error: KazasuError) -> CommandError {
        if case .reader(let error, let id) = error { return opening(id, error) }
        return CommandError(error)
    }

    /// Why a reader could not be opened, with the fix where the smart card service is to blame.
    package static func opening(_ id: String, _ error: TransportError) -> CommandError {
        var failure = CommandError(error, isOpening: true)
        // A service that hangs is not asked again.
        guard ChipCardServiceError.serves(id), error == .hanging || ReaderRegistry.serviceObstacle != nil,
            let fault = ChipCardServiceError(error)
        else { return failure }
        failure.reason = fault.reason.rawValue
        failure.message = fault.message
        failure.hint = fault.remedy
        return failure
    }
}
