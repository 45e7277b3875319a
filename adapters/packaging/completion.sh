#!/bin/sh
# completion.sh - writes the completion of the command for bash and for zsh
# SPDX-License-Identifier: MIT
#
#   adapters/packaging/completion.sh TABLE FOLDER
#
# TABLE is a file with the output of option_table.c. Writes FOLDER/bash and FOLDER/zsh; both
# complete commands, options, the words that options know, names of fixture hosts, and files.
set -eu
export LC_ALL=C

table=$1
out=$2
mkdir -p "$out"

commands=$(cut -d '|' -f 1 "$table" | grep -v ' ' | uniq | tr '\n' ' ')'fixture '
fixtures=$(sed -n 's/^fixture \([a-z]*\)|.*/\1/p' "$table" | uniq | tr '\n' ' ')

{
    echo "# bash completion of cpubind; made from its table of options"
    echo
    echo "_cpubind_words() { # COMMAND or COMMAND:OPTION -> \$words"
    echo "    case \$1 in"
    cut -d '|' -f 1 "$table" | uniq | while read -r name; do
        printf "    '%s') words='%s' ;;\n" "$name" \
            "$(awk -F '|' -v n="$name" '$1 == n { printf "%s ", $2 }' "$table" | sed 's/ $//')"
    done
    while IFS='|' read -r name option kind words; do
        case $kind in
        switch | maybe) ;;
        words) printf "    '%s:%s') words='%s' ;;\n" "$name" "$option" "$words" ;;
        *) printf "    '%s:%s') words=@%s ;;\n" "$name" "$option" "$kind" ;;
        esac
    done <"$table"
    cat <<EOF
    *) words= ;;
    esac
}

_cpubind() {
    local current=\${COMP_WORDS[COMP_CWORD]} previous= command= words= at i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case \${COMP_WORDS[i]} in
        --) at=\$((i + 1)) ;;
        -*) continue ;;
        *)
            if [[ -z \$command ]]; then
                command=\${COMP_WORDS[i]}
            elif [[ \$command == fixture ]]; then
                command="fixture \${COMP_WORDS[i]}"
            fi
            continue
            ;;
        esac
        break
    done
    [[ \$command == help && \$COMP_CWORD -eq 2 ]] && command=
    if [[ -n \$at && \$command == run ]]; then # the words of another command
        if declare -F _command_offset >/dev/null; then _command_offset "\$at"; fi
        return
    fi
    if ((COMP_CWORD > 1)); then previous=\${COMP_WORDS[COMP_CWORD - 1]}; fi
    if [[ -z \$command ]]; then
        words="${commands}help --help --version"
    elif [[ \$command == fixture ]]; then
        words="${fixtures}--help"
    else
        _cpubind_words "\$command:\$previous"
        if [[ -z \$words && \$command == fixture\ * && \$current != -* ]]; then
            words=@host
            [[ \$command == 'fixture import' ]] && words=@folder
        fi
        [[ -n \$words ]] || _cpubind_words "\$command"
    fi
    case \$words in
    @folder) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "\$current") ;;
    @file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "\$current") ;;
    @host) mapfile -t COMPREPLY < <(compgen -W "\$(cpubind fixture list --json 2>/dev/null |
        tr ',' '\n' | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p')" -- "\$current") ;;
    @other | @pid) ;;
    *)
        [[ \$words != *= ]] || compopt -o nospace
        mapfile -t COMPREPLY < <(compgen -W "\$words" -- "\$current")
        ;;
    esac
} 2>/dev/null

complete -F _cpubind cpubind
EOF
} >"$out/bash"

{
    echo "#compdef cpubind"
    echo "# zsh completion of cpubind; made from its table of options"
    echo
    echo "_cpubind_hosts() {"
    echo "    compadd -- \$(cpubind fixture list --json 2>/dev/null | tr ',' '\\n' |"
    echo "        sed -n 's/.*\"name\": *\"\\([^\"]*\\)\".*/\\1/p')"
    echo "}"
    echo
    echo "_cpubind() {"
    echo "    local command=\$words[2]"
    echo "    if ((CURRENT == 2)); then"
    echo "        compadd -- ${commands}help --help --version"
    echo "        return"
    echo "    fi"
    echo "    if [[ \$command == help ]]; then"
    echo "        compadd -- $commands"
    echo "        return"
    echo "    fi"
    echo "    if [[ \$command == fixture ]]; then"
    echo "        if ((CURRENT == 3)); then"
    echo "            compadd -- ${fixtures}--help"
    echo "            return"
    echo "        fi"
    echo "        command=\"fixture \$words[3]\""
    echo "        shift words"
    echo "        ((CURRENT--))"
    echo "    fi"
    echo "    shift words"
    echo "    ((CURRENT--))"
    echo "    case \$command in"
    cut -d '|' -f 1 "$table" | uniq | while read -r name; do
        printf "    '%s')\n        _arguments -S" "$name"
        while IFS='|' read -r its option kind words; do
            [ "$its" = "$name" ] || continue
            case $kind in
            switch | maybe) action= ;;
            words) action=":value:($words)" ;;
            folder) action=:value:_directories ;;
            file) action=:value:_files ;;
            host) action=:value:_cpubind_hosts ;;
            pid) action=:value:_pids ;;
            *) action=':value: ' ;;
            esac
            printf " \\\\\n            '%s'" "*$option$action"
        done <"$table"
        case $name in
        run) printf " \\\\\n            '*::command:_normal'" ;;
        'fixture import') printf " \\\\\n            '*:folder:_files'" ;;
        'fixture '*) printf " \\\\\n            '*:host:_cpubind_hosts'" ;;
        esac
        printf "\n        ;;\n"
    done
    echo "    esac"
    echo "}"
    echo
    echo "_cpubind \"\$@\""
} >"$out/zsh"
