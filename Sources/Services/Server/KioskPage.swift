// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import KazasuTaps

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

    /// What `/favicon.ico` answers, which every browser asks for: a card with waves.
    static let icon = HTTPResponse(
        text: """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect x="2" y="12" width="60" height="40" rx="7" \
            fill="#0b6b5c"/><path d="M17 25a10 10 0 0 1 0 14M27 20a18 18 0 0 1 0 24M37 15a26 26 0 0 1 0 34" fill="none" \
            stroke="#fff" stroke-width="5" stroke-linecap="round"/></svg>

            """, type: "image/svg+xml"
    ).with("Cache-Control", "max-age=86400")

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
