// SPDX-License-Identifier: Apache-2.0

public import CardCrypto
public import NFCForumTags

/// A URL that an NTAG 424 DNA makes new each time it is read (SUN, also SDM), as a web server gets it.
///
/// ```swift
/// guard let message = SUNMessage(url), let tag = try message.verified(with: key) else { return }
/// guard let counter = tag.counter, counter > lastCounter(of: tag.uid) else { return }  // an old URL
/// ```
///
/// The same URL is right again and again: only a counter above the last one shows that the tag was read again.
public struct SUNMessage {
    private let message: SecureUniqueMessage

    /// Finds the parts of a message in a URL.
    ///
    /// - Returns: `nil` if it has no MAC, or neither PICC data nor UID and counter.
    public init?(_ url: String) {
        guard let message = SecureUniqueMessage(url: url) else { return nil }
        self.message = message
    }

    /// What the tag said, once its MAC was checked.
    public struct Contents: Hashable, Sendable {
        /// The UID, seven bytes.
        public let uid: [UInt8]
        /// How often the tag was read before; `nil` if it does not say so.
        public let counter: UInt32?
        /// The file data that was enciphered; `nil` if there is none.
        public let fileData: [UInt8]?
        /// Whether the tag uses LRP in place of AES.
        public let isLRP: Bool
    }

    /// Checks the MAC, without a reader.
    ///
    /// - Parameters:
    ///   - key: the key for MAC and file data (SDMFileReadKey).
    ///   - metaKey: the key for the PICC data (SDMMetaReadKey); `nil` if it is the same.
    /// - Returns: what the tag said; `nil` if it was not made with these keys, or was changed.
    /// - Throws: ``CryptoError`` if there is no OpenSSL.
    public func verified(with key: TagKey, metaKey: TagKey? = nil) throws(CryptoError) -> Contents? {
        let contents = try message.contents(metaKey: (metaKey ?? key).secret, fileKey: key.secret)
        return contents.map {
            Contents(uid: $0.uid, counter: $0.counter, fileData: $0.fileData, isLRP: $0.isLRP)
        }
    }
}
