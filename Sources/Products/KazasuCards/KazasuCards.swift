// SPDX-License-Identifier: Apache-2.0

@_exported public import CardDecoders
@_exported public import CardModel
@_exported public import DumpFormats
