// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// A dump's data on its holder: a driver's license, a My Number card, or both on one card.
package struct IdentityReports {
    package let license: LicenseReport?
    package let myNumber: MyNumberReport?
    package var redaction: Redaction
    /// The path that the photo of the license was written to.
    package var photoPath: String?

    package init(_ found: DumpReports, _ redaction: Redaction, photoPath: String? = nil) {
        license = found.license
        myNumber = found.myNumber
        self.redaction = redaction
        self.photoPath = photoPath
    }

    package var isEmpty: Bool { license == nil && myNumber == nil }

    /// Elements of `reports` in `kazasu.decode/1`: the output of the card's own command, with its kind in place of the
    /// schema.
    package var json: [JSONValue] {
        [
            license.map {
                (CardKind.license, LicenseView(report: $0, redaction: redaction, photoPath: photoPath).members)
            },
            myNumber.map { (CardKind.myNumber, MyNumberView(report: $0, redaction: redaction).members) },
        ].compactMap { report in
            report.map { kind, members in
                var object = JSONObject([("kind", .string(kind.rawValue))])
                object.merge(members)
                return .object(object)
            }
        }
    }

    package var texts: [String] {
        [
            license.map { LicenseView(report: $0, redaction: redaction, photoPath: photoPath).text },
            myNumber.map { MyNumberView(report: $0, redaction: redaction).text },
        ].compactMap(\.self)
    }
}
