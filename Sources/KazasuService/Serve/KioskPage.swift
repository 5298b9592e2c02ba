// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1

/// The page of `/`, which is one file, and the module of `/kazasu.js`.
package struct KioskPage: Sendable {
    let response: HTTPResponse
    /// What the page may do: the value of `Content-Security-Policy`.
    let policy: String

    /// The page that comes with Kazasu.
    package static let kiosk = KioskPage(PackageResources.kiosk_html)

    /// What `/kazasu.js` answers.
    static let script = HTTPResponse(
        .ok, "text/javascript; charset=utf-8", ByteBuffer(bytes: PackageResources.kazasu_js)
    ).with("Cache-Control", "no-cache")

    /// - Parameter html: its script and style stand in it, and run because their hashes are in the policy; anything else
    ///   does not, nor can it load or send anything but from and to this server.
    init(_ html: [UInt8]) {
        let text = String(decoding: html, as: UTF8.self)
        let elements = text.matches(of: /<(script|style)(?:\s[^>]*)?>(.*?)<\/\1>/.dotMatchesNewlines())
        func sources(_ tag: String) -> String {
            let hashes = elements.filter { $0.1 == tag }.map { element in
                "'sha256-" + Data(MessageDigest.sha256(Array(element.2.utf8))).base64EncodedString() + "'"
            }
            return hashes.isEmpty ? "" : "; \(tag)-src " + hashes.joined(separator: " ")
        }
        policy =
            "default-src 'none'; connect-src 'self'" + sources("script") + sources("style")
            + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        response = HTTPResponse(text: text, type: "text/html; charset=utf-8")
            .with("Cache-Control", "no-cache")
            .with("Referrer-Policy", "no-referrer")
            .with("Content-Security-Policy", policy)
    }
}
