// SPDX-License-Identifier: Apache-2.0

/// A reader that repeats a search on a field that was just switched on, unless it knows that the caller will repeat it.
///
/// A card may need 20 ms after it got power. A reader that is asked once has to wait and ask again; a search that sends its
/// first request several times anyway does not need that.
package protocol FollowedSearch: Reader {
    /// Looks for a card as ``Reader/activate(_:)`` does.
    ///
    /// - Parameter isFollowed: whether another search follows in 20 ms or more if no card answers.
    func activate(_ request: ActivationRequest, isFollowed: Bool) throws(TransportError) -> PICC?
}

extension Reader {
    /// Looks for a card, and says whether another search follows if none answers; most readers need not know.
    package func look(for request: ActivationRequest, isFollowed: Bool) throws(TransportError) -> PICC? {
        guard isFollowed, let reader = self as? any FollowedSearch else { return try activate(request) }
        return try reader.activate(request, isFollowed: true)
    }
}
