// SPDX-License-Identifier: Apache-2.0

// Who needs a virtual reader needs cards for it.
@_exported public import VirtualCards
@_exported public import VirtualChips
