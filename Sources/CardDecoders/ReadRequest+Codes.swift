// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension ReadRequest {
    /// A wish for blocks by the numbers of system and service.
    init(_ system: UInt16, _ service: UInt16, _ blocks: Range<UInt16>, isRequired: Bool = true) {
        self.init(
            system: SystemCode(rawValue: system), service: ServiceCode(rawValue: service), blocks: blocks,
            isRequired: isRequired)
    }
}
