// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import FeliCa
internal import ReaderCore

extension CardSession {
    /// The result of reading services that need keys.
    package struct StandardResult {
        package var services: [ServiceDump]
        package var absent: [ServiceCode: [UInt16: RefusalReason]] = [:]
        package var refusals: [ServiceCode: RefusalReason] = [:]
        package var ends: [ServiceCode: StandardReading.End] = [:]
        package var issue: SystemIssue?
        package var interruption: ReadingError?
    }

    /// Reads blocks of services that need keys. Nothing is sent if there is no key for one of them.
    package func read(
        _ requests: [ServiceBlocks], of system: SystemHandle, keys keyring: StandardKeyring
    ) -> StandardResult {
        let reading = StandardReading(session: self, system: system, keyring: keyring)
        var result = StandardResult(services: [])
        if system.isStandard, let without = requests.map(\.code).first(where: { !reading.hasKey($0) }) {
            result.services = requests.map { ServiceDump(code: $0.code, state: .keyRequired) }
            result.ends[without] = .failed(KeyFailure(.noKey, without.node))
            return result
        }
        do throws(ReadingError) {
            try reading.run(requests) { () throws(ReadingError) in
                try nodes(of: system)
            }
        } catch {
            result.interruption = error
        }
        (result.ends, result.issue) = (reading.ends, reading.issue)
        for request in requests {
            var service = ServiceDump(code: request.code, state: .lost)
            service.take(reading)
            result.services.append(service)
            if let job = reading.jobs[request.code] {
                if !job.absent.isEmpty { result.absent[request.code] = job.absent }
                result.refusals[request.code] = job.refusal
            }
        }
        return result
    }
}

extension CardSession {
    /// Opens services with keys without reading them.
    package func prove(
        _ services: [ServiceCode], of system: SystemHandle, keys keyring: StandardKeyring
    ) -> StandardResult {
        let reading = StandardReading(session: self, system: system, keyring: keyring)
        var result = StandardResult(services: [])
        do throws(ReadingError) {
            try reading.prove(services) { () throws(ReadingError) in try nodes(of: system) }
        } catch {
            result.interruption = error
        }
        (result.ends, result.issue) = (reading.ends, reading.issue)
        return result
    }

    /// Whether the card answers no Polling before it is lifted: a session with keys could not be ended.
    package var staysAuthenticated: Bool { authenticated != nil }

    /// Brings a system back to mode 0 after an authentication.
    ///
    /// Where neither the card has Reset Mode nor the reader can switch its field off, a Polling for another of the card's
    /// systems ends the session. A card with a single system stays authenticated.
    func leaveAuthentication(of system: SystemHandle) throws(ReadingError) {
        authenticated = system
        if system.pmm.mayAnswer(.resetMode) {
            let felica = FeliCaSystem(
                channel: SessionChannel(session: self, isPatient: false), idm: system.idm, pmm: system.pmm)
            if (try? felica.resetMode()) != nil {
                authenticated = nil
                return
            }
        }
        var isReset = try switchOff()
        if !isReset { isReset = try leave(for: system) }
        guard isReset else { return }
        authenticated = nil
        guard try isPresent(system) else { throw .cardLost }
    }

    /// Switches the field off and on.
    ///
    /// - Returns: whether the reader can.
    func switchOff() throws(ReadingError) -> Bool {
        do throws(TransportError) {
            return try reader.cyclePower()
        } catch {
            guard !error.isTransient else { return false }
            throw CardSession.readingError(error)
        }
    }

    /// Polls for another system of the card than this.
    private func leave(for system: SystemHandle) throws(ReadingError) -> Bool {
        guard system.pmm.mayAnswer(RequestSystemCode.code) else { return false }
        let reply = try ask(system) { felica throws(FeliCaError) in try felica.requestSystemCode() }
        guard case .value(let codes) = reply else { return false }
        for code in codes where code.isSystem && code != system.code {
            if let other = try poll(code), other.idm.isSameCard(as: system.idm) { return true }
        }
        return false
    }

    /// Lists the nodes of a system.
    func nodes(of system: SystemHandle) throws(ReadingError) -> [ScannedNode] {
        var scan = SystemScan(system: system)
        try CardScanner(session: self).nodes(of: system, on: [system.code], into: &scan)
        return scan.nodes
    }
}

extension SystemHandle {
    /// Whether it may be of a FeliCa Standard, which has keys for mutual authentication.
    package var isStandard: Bool { !LiteLayout.applies(to: pmm) }
}

extension ServiceDump {
    /// Records how the reading of this service with keys ended; unchanged if it was not tried.
    mutating func take(_ reading: StandardReading) {
        switch reading.ends[code] {
        case .opened(let scheme)?:
            opened = scheme
            if let job = reading.jobs[code] { take(job) }
        case .failed(let failure)? where failure.reason == .noKey: state = .keyRequired
        case .failed(let failure)?:
            state = .refused(status: nil)
            keyRefusal = failure.reason
        case .silent?, .absent?: state = .refused(status: nil)
        case .otherCard?, .unsupported?, .noCipher?: state = .keyRequired
        case nil: break
        }
    }
}
