// SPDX-License-Identifier: Apache-2.0

extension JSONCursor {
    /// This as an IDm of 16 digits.
    public func idm() throws(DocumentError) -> IDm {
        guard let idm = IDm(try bytes(count: 8)) else { throw malformed("16 hexadecimal digits") }
        return idm
    }

    /// This as a PMm of 16 digits.
    public func pmm() throws(DocumentError) -> PMm {
        guard let pmm = PMm(try bytes(count: 8)) else { throw malformed("16 hexadecimal digits") }
        return pmm
    }

    /// The elements of this array, each read by `read`.
    public func list<Element>(
        _ read: (JSONCursor) throws(DocumentError) -> Element
    ) throws(DocumentError) -> [Element] {
        var list: [Element] = []
        for element in try elements() { list.append(try read(element)) }
        return list
    }
}
