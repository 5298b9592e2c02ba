// SPDX-License-Identifier: Apache-2.0

/// A DESFire as it is before anything is sent with a key, as far as a plan concerns it.
package struct DESFireSurvey: Hashable, Sendable {
    package let version: DESFireVersion
    /// The card's own settings and master key.
    package let card: DESFireApplication
    /// The free bytes; `nil` if the card does not say.
    package let freeMemory: Int?
    /// The applications of the plan that the card has.
    package let applications: [DESFireApplicationID: DESFireApplication]
    /// What is not listed without a key.
    package let withheld: [DESFireWithheld]

    /// Whether settings or files of an application are not listed without a key.
    package func isClosed(_ application: DESFireApplicationID) -> Bool {
        withheld.contains { $0.application == application }
    }
}

extension DESFireTag {
    /// Looks at the card and at some of its applications; no key is sent.
    func survey(_ wanted: [DESFireApplicationID]) throws(DESFireError) -> DESFireSurvey {
        let version = try identify()
        try link.select(.card)
        var card = DESFireApplication(.card)
        var withheld: [DESFireWithheld] = []
        try look(at: &card, &withheld)
        var free: Int?
        if version.generation > 0 {
            let bytes = try link.ask(.freeMemory)
            free = bytes.count == 3 ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : nil
        }
        var applications: [DESFireApplicationID: DESFireApplication] = [:]
        for id in wanted {
            do throws(DESFireError) {
                try link.select(id)
            } catch .noSuchApplication {
                continue
            } catch {
                throw error
            }
            var application = DESFireApplication(id)
            try look(at: &application, &withheld)
            try list(&application, &withheld)
            applications[id] = application
        }
        return DESFireSurvey(
            version: version, card: card, freeMemory: free, applications: applications, withheld: withheld)
    }

    /// Reads settings, versions of keys and files of the selected application, in the session of its key 0 if it is closed.
    func look(at application: inout DESFireApplication) throws(DESFireError) {
        var withheld: [DESFireWithheld] = []
        try look(at: &application, &withheld)
        try list(&application, &withheld)
    }
}
