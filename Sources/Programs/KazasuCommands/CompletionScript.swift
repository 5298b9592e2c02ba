// SPDX-License-Identifier: Apache-2.0

/// The completion script of a shell. It asks the program for what may follow, in the language of whoever types, so that it
/// is the same for all versions and both programs.
enum CompletionScript {
    static func of(_ shell: Completion.Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// bash breaks words at colons and equals signs. The words are joined again, and of the answers only the part is left
    /// that bash inserts.
    private static let bash = #"""
        _kazasu() {
            local -a words=()
            local -i index=0 i
            for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
                if ((i > 1)) && [[ ${COMP_WORDS[i]} == [:=]* || ${COMP_WORDS[i - 1]} == *[:=] ]]; then
                    words[${#words[@]} - 1]+=${COMP_WORDS[i]}
                else
                    words+=("${COMP_WORDS[i]}")
                fi
                ((i != COMP_CWORD)) || index=$((${#words[@]} - 1))
            done
            local whole=${words[index]} last=${COMP_WORDS[COMP_CWORD]}
            [[ ${last} != [:=] ]] || last=
            mapfile -t COMPREPLY < <("${words[0]}" ---completion bash "${index}" "${words[@]}" 2> /dev/null)
            COMPREPLY=("${COMPREPLY[@]#"${whole%"${last}"}"}")
            [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[:/] ]] || compopt -o nospace
            [[ ${COMPREPLY[*]} != *:* ]] || compopt +o filenames
            COMPREPLY=("${COMPREPLY[@]%/}")
        }
        complete -o filenames -F _kazasu kazasu
        """#

    private static let zsh = #"""
        #compdef kazasu

        _kazasu() {
            local -a words_ values shown open open_shown
            local line tab=$'\t'
            words_=("${(Q)words[@]}")
            for line in "${(@f)$("${words_[1]}" ---completion zsh $((CURRENT - 1)) "${words_[@]}" 2> /dev/null)}"; do
                [[ -n $line ]] || continue
                if [[ ${line%%$tab*} == *[:/] ]]; then
                    open+=("${line%%$tab*}")
                    open_shown+=("${line/$tab/  -- }")
                else
                    values+=("${line%%$tab*}")
                    shown+=("${line/$tab/  -- }")
                fi
            done
            ((${#values} == 0)) || compadd -l -d shown -- "${values[@]}"
            ((${#open} == 0)) || compadd -S '' -d open_shown -- "${open[@]}"
        }

        if [[ ${funcstack[1]} == _kazasu ]]; then
            _kazasu "$@"
        else
            compdef _kazasu kazasu
        fi
        """#

    private static let fish = #"""
        function __kazasu_complete
            set -l words (commandline -opc)
            $words[1] ---completion fish (count $words) $words (commandline -ct) 2> /dev/null
        end
        complete -c kazasu -f -a '(__kazasu_complete)'
        """#
}
