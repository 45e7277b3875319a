#!/bin/sh
# completion.sh - writes the completion of the command for bash and for zsh
# SPDX-License-Identifier: MIT
#
#   adapters/packaging/completion.sh COMMAND TABLE FOLDER
#
# COMMAND is cpubind, TABLE a file with the output of option_table.c. Writes FOLDER/bash and
# FOLDER/zsh; both complete commands, options, the words that options know, names of fixture
# hosts, and files.
set -eu
export LC_ALL=C

command=$1
table=$2
out=$3
mkdir -p "$out"

# "  plan         print which CPUs ...": the commands of a help.
commands_of() { # arguments of the command
    "$command" "$@" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | tr '\n' ' '
}
commands=$(commands_of)
fixtures=$(commands_of fixture)

# The formats of a command, which its own table has, from the refusal of another word.
formats_of() { # command
    # shellcheck disable=SC2086
    "$command" $1 --format '?' 2>&1 | sed -n 's/.*; it knows \([^;]*\).*/\1/p' | tr -d ','
}

# The table with the words of --format: "COMMAND|--NAME|KIND|WORD...".
rows() {
    awk '{
        for (i = 2; i <= NF && $i !~ /^-/; i++) $1 = $1 " " $i
        words = ""
        for (k = i + 2; k <= NF; k++) words = words (words == "" ? "" : " ") $k
        print $1 "|" $i "|" $(i + 1) "|" words
    }' "$table" | while IFS='|' read -r name option kind words; do
        [ "$option" != --format ] || words=$(formats_of "$name")
        echo "$name|$option|$kind|$words"
    done
}
rows >"$out/rows"

# What a value is that has no list of words.
kind_of_value='
    case $option in
    --root | --output | -o) kind=folder ;;
    --db | --config | --textfile) kind=file ;;
    --fixture) kind=host ;;
    --pid) kind=pid ;;
    *) kind=other ;;
    esac'

{
    echo "# bash completion of cpubind; made from its table of options"
    echo
    echo "_cpubind_words() { # COMMAND or COMMAND:OPTION -> \$words"
    echo "    case \$1 in"
    cut -d '|' -f 1 "$out/rows" | uniq | while read -r name; do
        printf "    '%s') words='%s' ;;\n" "$name" \
            "$(awk -F '|' -v n="$name" '$1 == n { printf "%s ", $2 }' "$out/rows" | sed 's/ $//')"
    done
    while IFS='|' read -r name option value words; do
        [ "$value" = value ] || continue
        eval "$kind_of_value"
        [ -z "$words" ] || kind=words
        [ "$kind" != pid ] || kind=other
        case $kind in
        words) printf "    '%s:%s') words='%s' ;;\n" "$name" "$option" "$words" ;;
        *) printf "    '%s:%s') words=@%s ;;\n" "$name" "$option" "$kind" ;;
        esac
    done <"$out/rows"
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
    @other) ;;
    *) mapfile -t COMPREPLY < <(compgen -W "\$words" -- "\$current") ;;
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
    cut -d '|' -f 1 "$out/rows" | uniq | while read -r name; do
        printf "    '%s')\n        _arguments -S" "$name"
        while IFS='|' read -r its option value words; do
            [ "$its" = "$name" ] || continue
            eval "$kind_of_value"
            [ -z "$words" ] || kind=words
            case $value-$kind in
            value-words) action="($words)" ;;
            value-folder) action=_directories ;;
            value-file) action=_files ;;
            value-host) action=_cpubind_hosts ;;
            value-pid) action=_pids ;;
            *) action=' ' ;;
            esac
            [ "$value" = value ] && text="*$option:value:$action" || text="*$option"
            printf " \\\\\n            '%s'" "$text"
        done <"$out/rows"
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
rm "$out/rows"
