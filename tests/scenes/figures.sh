#!/bin/sh
# figures.sh - measure by the figures of an engine, of a command, of a log, of the kernel; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-all
#
# The worker does nothing; pages.py answers with what is written here, whatever is right. A block
# of a measurement reads each source at its beginning and at its end, so that the answers of one
# name by turns are one block. A command that comes before a log among the sources, or behind it,
# changes that log within a block, or between two. What the kernel counts is said by files over its
# own.
. tests/scenes/lib.sh
use_gpus

pages=$out/pages
mkdir "$pages"
start_server() { # file for the port [, address]
    python3 tests/scenes/programs/pages.py "$pages" ${2:+"$2"} >"$1" 2>"$1.err" &
    becomes test -s "$1" && read -r port <"$1"
}

# Writes an answer; `\r\n` and the like are as in printf.
answers() { # name, text
    printf '%b' "$2" >"$pages/$1"
}

ok='HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n'

# Measures with the options that are there, for a second; the result is in $out/said.
measure() { # option ...
    "$CPUBIND" measure --root "$host" --all --time 1 --json "$@" >"$out/said" 2>"$out/err"
    [ $? -ne 2 ] && [ -s "$out/said" ] || {
        cat "$out/said" "$out/err"
        return 1
    }
}

# In every block, whichever its side.
is() { # name, value, unit
    blocks=$(sqlite3 :memory: "SELECT DISTINCT round(b.value, 6) FROM
        json_each(readfile('$out/said'), '\$.figures') f, json_each(f.value, '\$.blocks') b
        WHERE f.value ->> 'name' = '$1'")
    [ "$blocks" = "$2" ] && [ "$(figure "$1" unit)" = "$3" ] && return 0
    echo "$1 is $blocks $(figure "$1" unit), not $2 $3: $(figure "$1" why)"
    return 1
}

# It was never counted, and why.
says_why() { # name, words
    figure "$1" why | grep -qF -e "$2" && [ "$(figure "$1" groups)" = 0 ] && return 0
    echo "$1: \"$(figure "$1" why)\" after $(figure "$1" groups) groups, not \"$2\""
    return 1
}

# -- Answers that are no page ----------------------------------------------------

# NAME|ANSWER|WHY
cat >"$out/bad" <<'TABLE'
none|HTTP/1.0 404 Not Found\r\n\r\nnothing|it ended with 22: curl: (22) The requested URL returned error: 404
ssh|SSH-2.0-OpenSSH_9.2\r\n|curl: (1)
cut|HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na 1\n|curl: (18)
empty||curl: (52)
escapes|HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n|curl: (1)
line|HTTP/1.1 200 OK\r\n\r\na 1\nb|line 2, column 2 of the page: the text ends in the middle of a line
html|HTTP/1.1 200 OK\r\n\r\n<html>\n|line 1, column 1 of the page: a name is missing
TABLE

# At the beginning of a block; of two kinds at its end, too: a source is asked 80 times, which takes
# seconds.
no_answer_is_taken_for_a_page() {
    grep -E '^(none|html)' "$out/bad" >"$out/bad.1" && cp "$out/bad" "$out/bad.0" || return 1
    for turn in 0 1; do
        set --
        while IFS='|' read -r name text _; do
            set -- "$@" --metric "http://127.0.0.1:$port/$turn$name#a"
            answers "$turn$name.$turn" "$text" &&
                answers "$turn$name.$((1 - turn))" "$ok"'a 1\n' || return 1
        done <"$out/bad.$turn"
        measure "$@" || return 1
        set -- a b c d e f g
        while IFS='|' read -r name _ why; do
            says_why "$1.a" "$why" || return 1
            shift
        done <"$out/bad.$turn"
    done
}

# These cost seconds each: they come in the last block alone, whose words stay. On a busy machine
# a long page may not come in time.
what_never_ends_is_given_up() {
    for try in 1 2 3; do
        set --
        for name in hangs page; do
            echo "78 $name" >"$pages/$name$try.how"
            set -- "$@" --metric "http://127.0.0.1:$port/$name$try#a"
        done
        measure "$@" && says_why a.a "curl: (28)" && says_why b.a "it printed more than 16 MB" &&
            return 0
    done
    return 1
}

# -- Servers ---------------------------------------------------------------------

nobody_listens() {
    mkdir "$out/folder" && mkfifo "$out/fifo" || return 1
    measure --metric "http://127.0.0.1:1/metrics#a" --metric "http://localhost:1#a" \
        --metric "http://engine-7.example:8000/metrics#a" --metric "file:$out/none#a" \
        --metric "file:$out/folder#a" --metric "file:$out/fifo#a" &&
        says_why a.a "curl: (7) Failed to connect" && says_why b.a "curl: (7)" &&
        says_why c.a "curl: (6) Could not resolve host" &&
        says_why d.a "open: No such file" && says_why e.a "open: Is a directory" &&
        says_why f.a "open: Invalid argument"
}

a_page_arrives_in_every_way() {
    answers pieces.0 'HTTP/1.0 200 OK\nContent-Length: 4\n\na 1\nb' &&
        answers pieces.1 "$ok"'a 3\n' &&
        answers moved 'HTTP/1.1 307 Moved\r\nLocation: /metrics\r\nContent-Length: 0\r\n\r\n' &&
        answers chunks 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\na 8\n\r\n0\r\n\r\n' &&
        answers metrics "$ok"'a 5\n' && echo 0 pieces >"$pages/pieces.how" &&
        echo 'a 7' >"$out/a.prom" &&
        measure --metric "http://127.0.0.1:$port/pieces#a" --metric "http://localhost:$port#a" \
            --metric "lower:file:$out/a.prom#a" --metric "http://127.0.0.1:$port/moved#a" \
            --metric "http://127.0.0.1:$port/chunks#a" && is a.a 2.0 "" && is b.a 5.0 "" &&
        is c.a 7.0 "" && is d.a 5.0 "" && is e.a 8.0 "" &&
        [ "$(figure a.a better) $(figure c.a better)" = "neither lower" ] &&
        grep -q '^GET /metrics HTTP/' "$pages/metrics.asked"
}

# Neither the settings of curl nor a proxy of the environment count.
nothing_else_counts() {
    echo 'url = "http://127.0.0.1:1/"' >"$out/.curlrc"
    (
        HOME=$out http_proxy=http://127.0.0.1:1
        export HOME http_proxy
        measure --metric "http://127.0.0.1:$port/metrics#a"
    ) && is a 5.0 ""
}

# -- Names that are known --------------------------------------------------------

# Tokens, running requests, the histogram of the time between tokens, and its older name.
vllm() { # start, tokens, those of 10 ms at most, of 30 ms at most, seconds of all, running
    printf '%s' "$ok# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds $1.25\n\
# TYPE vllm:num_requests_running gauge\n\
vllm:num_requests_running{engine=\"0\",model_name=\"m\"} $6.0\n\
# TYPE vllm:generation_tokens_total counter\n\
vllm:generation_tokens_total{engine=\"0\",model_name=\"m\"} $2.0\n\
# TYPE vllm:time_per_output_token_seconds histogram\n\
vllm:time_per_output_token_seconds_bucket{engine=\"0\",le=\"+Inf\"} 1\n\
vllm:time_per_output_token_seconds_sum{engine=\"0\"} 1\n\
# TYPE vllm:inter_token_latency_seconds histogram\n\
vllm:inter_token_latency_seconds_bucket{engine=\"0\",le=\"0.01\"} $3.0\n\
vllm:inter_token_latency_seconds_bucket{engine=\"0\",le=\"0.03\"} $4.0\n\
vllm:inter_token_latency_seconds_bucket{engine=\"0\",le=\"+Inf\"} $4.0\n\
vllm:inter_token_latency_seconds_sum{engine=\"0\"} $5\n"
}

sglang() { # throughput, seconds of all, those of 0.1 s at most, all
    printf '%s' "$ok# TYPE sglang:num_running_reqs gauge\nsglang:num_running_reqs{tp_rank=\"0\"} 8.0\n\
# TYPE sglang:gen_throughput gauge\nsglang:gen_throughput{tp_rank=\"0\"} $1\n\
# TYPE sglang:time_to_first_token_seconds histogram\n\
sglang:time_to_first_token_seconds_sum{model_name=\"m\"} $2\n\
sglang:time_to_first_token_seconds_bucket{le=\"0.1\",model_name=\"m\"} $3\n\
sglang:time_to_first_token_seconds_bucket{le=\"+Inf\",model_name=\"m\"} $4\n"
}

# Where the engine has another name for it, too, the first one counts.
engines_are_known() {
    answers vllm.0 "$(vllm 1764 1000 500 1000 12.5 2)" &&
        answers vllm.1 "$(vllm 1764 1300 550 1100 13.75 4)" &&
        answers sglang.0 "$(sglang 90.5 1.0 5.0 5.0)" &&
        answers sglang.1 "$(sglang 99.5 1.5 15.0 25.0)" &&
        answers anew.0 "$(vllm 1764 1000 500 1000 12.5 2)" &&
        answers anew.1 "$(vllm 1765 9000 5000 9999 99 2)" &&
        answers fell.0 "$(vllm 1764 1000 500 1000 12.5 2)" &&
        answers fell.1 "$(vllm 1764 10 5 10 1 2)" &&
        measure --metric "http://127.0.0.1:$port/vllm" --metric "http://127.0.0.1:$port/sglang" \
            --metric "http://127.0.0.1:$port/anew" --metric "http://127.0.0.1:$port/fell" &&
        is a.time_per_output_token.mean 12.5 ms && is a.time_per_output_token.p50 10.0 ms &&
        is a.time_per_output_token.p99 29.6 ms && is a.requests_running 3.0 "" &&
        [ "$(figure a.tokens better) $(figure a.tokens unit)" = "higher /s" ] &&
        [ "$(figure a.time_per_output_token.p50 better)" = lower ] &&
        [ "$(figure a.requests_running verdict)" = shown ] && is b.tokens 95.0 /s &&
        is b.time_to_first_token.mean 25.0 ms && is b.time_to_first_token.p50 100.0 ms &&
        says_why b.time_to_first_token.p99 "above the highest bound" &&
        is b.requests_running 8.0 "" &&
        says_why c.tokens "its program started anew" &&
        says_why c.time_per_output_token.mean "anew" &&
        says_why d.tokens fell && says_why d.time_per_output_token.p99 fell &&
        is d.requests_running 2.0 ""
}

says_503() { # name
    figure "$1" why | grep -q 'returned error: 503'
}

# One name is what the user says; the figures of a page that fails later stay those that it had.
one_name_is_taken() {
    answers load "$ok"'# TYPE my:Load gauge\nmy:Load{a="1"} 3\nmy:Load 9\n' &&
        answers later "$(sglang 90.5 1.0 5.0 5.0)" && echo 8 busy >"$pages/later.how" &&
        measure --metric "http://127.0.0.1:$port/load#my:Load{a=\"1\"}" \
            --metric "http://127.0.0.1:$port/load#none" --metric "http://127.0.0.1:$port/load" \
            --metric "http://127.0.0.1:$port/later" \
            --metric "http://127.0.0.1:$port/vllm#vllm:generation_tokens_total" &&
        is a.my_load_a_1 3.0 "" && says_why b.none "the page does not have it" &&
        says_why c.page "it has no name of vLLM or SGLang that is known" &&
        says_503 d.requests_running && says_503 d.tokens &&
        [ "$(figure d.requests_running groups)" = 1 ] && [ "$(figure e.tokens unit)" = /s ]
}

# -- Commands and logs -----------------------------------------------------------

# The shell that measures expands what is in these words, and nobody before it.
# shellcheck disable=SC2016
a_command_prints_one_number() {
    measure --metric "command:echo ' 12.5 '" --metric "higher:command:echo 1e3" \
        --metric "command:echo 12,5" --metric "command:echo 5 ms" \
        --metric "command:printf '\\033[31m'" --metric command:true --metric "command:echo nan" \
        --metric "command:echo 5; echo no server >&2; exit 3" --metric 'command:kill -9 $$' &&
        is a.command 12.5 "" && is b.command 1000.0 "" &&
        [ "$(figure b.command better)" = higher ] &&
        says_why c.command 'it printed no number: "12,5"' && says_why d.command '"5 ms"' &&
        says_why e.command '"?[31m"' && says_why f.command 'it printed no number: ""' &&
        says_why g.command "it printed no number" &&
        says_why h.command "it ended with 3: no server" &&
        says_why i.command "it ended with 137"
}

# What it prints is what the side is: near its device, or free.
each_block_is_on_its_side() {
    echo "sed -n 's/^Cpus_allowed_list:[^0-9]*$a\$/1/p; t; s/^Cpus_allowed_list:.*/0/p' /proc/$worker/status" >"$out/side"
    measure --between unbound,near --metric "command:sh $out/side" && [ "$(sqlite3 :memory: "SELECT
        replace(replace(group_concat(CAST(b.value AS INT), ''), '1', 'B'), '0', 'A') FROM
        json_each(readfile('$out/said'), '\$.figures[0].blocks') b")" = "$(json .order)" ]
}

a_worker_that_is_watched_is_refused() {
    "$CPUBIND" apply --root "$host" --pid "$worker" --memory none --watch 1 >"$out/watched" 2>&1 &
    watch=$!
    becomes grep -q "^process $worker" "$out/watched" &&
        says 1 "watch" "$CPUBIND" measure --root "$host" --all --time 1
    result=$?
    kill $watch
    wait $watch
    "$CPUBIND" restore --all --quiet
    return $result
}

# Of four blocks: in one a line is cut at the end, and goes on before the next block begins and in
# it; in one the log is renamed, in one cut short. `gone` is renamed in each, and comes back.
cat >"$out/within" <<'END'
#!/bin/sh
read -r n <n
echo $((n + 1)) >n
case $((n % 4)) in
0) printf 'step 10 ms\nnothing\nstep x ms\nstep 20 ms\nstep 30 ms\nstep 9' >>log ;;
1) printf 'fore step 998 ms\nstep 10 ms\nstep 30 ms\n' >>log ;;
2) printf 'step 10 ms\n' >>log; mv log log.1; printf 'step 30 ms\n' >>log ;;
3) printf 'step 20 ms\n' >log ;;
esac
seq -f 'step %g ms' 1 100 >>many
echo "step 40 ms" >>gone
mv gone gone.1
echo 5
END
cat >"$out/between" <<'END'
#!/bin/sh
read -r n <n
[ $((n % 4)) -ne 1 ] || printf '99 ms, begun be' >>log
[ $((n % 4)) -ne 3 ] || printf 'step 1000 ms\n' >>log
mv gone.1 gone
echo 5
END
chmod +x "$out/within" "$out/between"

new_lines_of_a_log_count() {
    logs=$out/logs
    mkdir "$logs" && echo 0 >"$logs/n" && : >"$logs/many" && : >"$logs/quiet" &&
        echo 'step 1000 ms' >"$logs/log" && cp "$logs/log" "$logs/gone" &&
        measure --metric "command:cd $logs; $out/within" --metric "log:$logs/log#step ([^ ]*) ms" \
            --metric "log:$logs/many#step (.*) ms" --metric "log:$logs/gone#([0-9]+)" \
            --metric "log:$logs/quiet#(x)" --metric "command:cd $logs; $out/between" &&
        is b.log.mean 20.0 "" && says_why b.log.p99 "fewer than 100 lines match" &&
        is c.log.p50 50.0 "" && is c.log.p99 99.0 "" && is d.log.mean 40.0 "" &&
        says_why e.log.mean "no new line of it matches"
}

a_log_that_becomes_a_folder_is_said() {
    echo 'step 1000 ms' >"$logs/log"
    measure --metric "command:cd $logs; rm log && mkdir log; echo 5" --metric "log:$logs/log#([0-9]+)" &&
        says_why b.log.mean "open: Is a directory"
}

# VALUE|WHY
what_makes_no_sense_is_refused() {
    while IFS='|' read -r value words; do
        "$CPUBIND" measure --root "$host" --all --time 1 --metric "$value" >"$out/said" 2>"$out/err"
        [ $? -eq 2 ] && grep -qF -e "--metric $value: " "$out/err" &&
            grep -qF -e "$words" "$out/err" || {
            cat "$out/said" "$out/err"
            return 1
        }
    done <<'TABLE'
127.0.0.1:8000|an address begins with http://
http://h/#|behind the #
http://h/#a{|behind the #
file:page|does not start with /
log:/dev/null|a log is log:FILE#REGEX
log:/dev/null#(|
log:/dev/null#x|has no group
log:/dev/null#(x)|open: Invalid argument
log:/none#(x)|open: No such file
TABLE
}

# -- What the kernel counts ------------------------------------------------------

# A file over one of the kernel's; all are taken off by `uncover`.
covered=
cover() { # path, content
    covered="$covered $1"
    echo "$2" >"$out/cover$(echo "$1" | tr / _)"
    mount --bind "$out/cover$(echo "$1" | tr / _)" "$1"
}

uncover() {
    # shellcheck disable=SC2086 # the paths are split on purpose
    umount $covered && covered=
}

# Pages on other nodes than their threads, and the frequency, where the kernel tells these.
a_host_of_two_nodes_counts_more() {
    measure && says_why remote_pages "the host has one node" &&
        says_why frequency "the kernel does not tell it" &&
        mkdir "$out/cpu" && for n in $a $b; do
        mkdir -p "$out/cpu/cpu$n/cpufreq" &&
            echo 2400000 >"$out/cpu/cpu$n/cpufreq/scaling_cur_freq" || return 1
    done
    echo "$a,$b" >"$out/cpu/online" && echo "$b" >"$out/cpu/nohz_full" &&
        mount --bind "$out/cpu" /sys/devices/system/cpu &&
        mount --bind "$host/sys/devices/system/node" /sys/devices/system/node && measure &&
        is frequency 2400.0 MHz && [ -z "$(figure remote_pages why)" ] &&
        [ "$(figure remote_pages unit)" = % ] &&
        echo fast >"$out/cpu/cpu$a/cpufreq/scaling_cur_freq" && measure &&
        says_why frequency scaling_cur_freq
    result=$?
    umount /sys/devices/system/cpu /sys/devices/system/node
    return $result
}

# What cannot be read costs its own figures, and no others.
a_damaged_file_costs_its_own_figures() {
    cover /proc/stat junk && cover /proc/interrupts "$(head -c 1500000 /dev/zero | tr '\0' x)" &&
        cover /proc/softirqs junk && cover "/proc/$worker/task/$worker/schedstat" "1 x" && measure
    result=$?
    uncover
    [ $result -eq 0 ] && says_why interrupt_time "/proc/stat: " &&
        says_why stolen_time "/proc/stat: " &&
        says_why interrupts "the file is long" && says_why softirqs "/proc/softirqs: " &&
        says_why run_queue_wait "schedstat: " && [ -z "$(figure voluntary_switches why)" ]
}

counters_may_be_forbidden() {
    CPUBIND="$programs/deny perf_event_open $CPUBIND" without_counters && says_why migrations \
        "kernel.perf_event_paranoid forbids it" && [ -z "$(figure voluntary_switches why)" ]
}

# The words of the command are split on purpose.
# shellcheck disable=SC2086
without_counters() {
    $CPUBIND measure --root "$host" --all --time 1 --json >"$out/said" 2>"$out/err"
    [ -s "$out/said" ]
}

# The busiest threads are counted, and others in the place of those that end.
many_threads_are_counted() {
    first=$worker
    # shellcheck disable=SC2046
    start_on 7 $(seq -f 't%g' 1 80) && measure && [ -z "$(figure cpus_used why)" ] &&
        [ -z "$(figure voluntary_switches why)" ] && end_worker && worker=$first
}

start_on 5 && start_server "$out/port" || exit 1
check "an answer that is no page is said, and counts for nothing" no_answer_is_taken_for_a_page
check "answers without an end are given up" what_never_ends_is_given_up
check "a server that is not there, a host by name, files that are none" nobody_listens
check "a page in pieces, with a length, of localhost, of a file" a_page_arrives_in_every_way
check "no settings of curl and no proxy count" nothing_else_counts
check "the names of vLLM and SGLang are known; a program that started anew is said" engines_are_known
check "one name is taken as the user says" one_name_is_taken
check "a command prints one number" a_command_prints_one_number
check "each block is on its side" each_block_is_on_its_side
check "a worker that is watched is refused" a_worker_that_is_watched_is_refused
check "new lines of a log count, once, whole, also when it is renamed or cut" new_lines_of_a_log_count
check "a log that becomes a folder is said" a_log_that_becomes_a_folder_is_said
check "sources that make no sense are refused" what_makes_no_sense_is_refused
check "pages and frequencies are counted where the kernel tells them" a_host_of_two_nodes_counts_more
check "a damaged file costs its own figures" a_damaged_file_costs_its_own_figures
check "counters may be forbidden" counters_may_be_forbidden
check "the busiest of many threads are counted" many_threads_are_counted
finish
