// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `kazasu stations`
struct Stations: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stations",
        abstract: tr("Your own table of station and bus stop names.", "駅名・バス停名の表を扱う。"),
        discussion: tr(
            "Kazasu ships no such table. Import one once; from then on 'history' and 'decode' show its names.",
            "Kazasu に駅名の表は付属しません。一度取り込むと 'history' と 'decode' が駅名を表示します。"),
        subcommands: [StationsImport.self, StationsLookup.self])
}
