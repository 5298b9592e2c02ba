// SPDX-License-Identifier: Apache-2.0

// What a program with a reader of its own needs, in one import and without a library in C.
@_exported public import CardCrypto
@_exported public import CardDecoders
@_exported public import CardModel
@_exported public import CardReading
@_exported public import CardVerification
@_exported public import DumpFormats
@_exported public import FeliCa
@_exported public import ISO7816
@_exported public import MIFAREClassic
@_exported public import NDEF
@_exported public import NFCForumTags
@_exported public import ReaderCore
