// SPDX-License-Identifier: Apache-2.0

/// A field can lie before a simulated chip.
extension VirtualField: RadioField {}
