// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import KazasuCLI

/// `kazasu completion`
struct Completion: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: tr("Print the completion script of a shell.", "シェルの補完スクリプトを出力する。"),
        discussion: tr(
            """
            Packages install it for bash, zsh and fish. Elsewhere, put it into a folder that the shell reads: \
            ~/.local/share/bash-completion/completions/kazasu for bash, _kazasu in a folder of $fpath for zsh, \
            ~/.config/fish/completions/kazasu.fish for fish.

            Examples:
              kazasu completion bash > kazasu.bash
              kazasu completion zsh > _kazasu
              kazasu completion fish > kazasu.fish
            """,
            """
            パッケージでは bash・zsh・fish のものが入ります。それ以外では、シェルが読む場所に置いてください: \
            bash は ~/.local/share/bash-completion/completions/kazasu、zsh は $fpath のフォルダーの _kazasu、\
            fish は ~/.config/fish/completions/kazasu.fish。

            例:
              kazasu completion bash > kazasu.bash
              kazasu completion zsh > _kazasu
              kazasu completion fish > kazasu.fish
            """))

    @Argument(required: .bash, reach: .never, help: help("bash, zsh or fish.", "bash、zsh、fish のいずれか。"))
    var shell: Shell

    /// The shells.
    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    func run() throws {
        try Output.write(CompletionScript.of(shell) + "\n")
    }
}
