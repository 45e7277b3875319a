#!/bin/sh
# ci.sh - the CI of another project: tests its hosts with the installed command alone
# runs: by hand
#
#   tests/consumers/ci.sh        with cpubind on PATH, in an empty folder that may be written
#
# A project that plans with cpubind keeps its own hosts in one file, replays them on every change,
# and adds one from a bug report. Exit 0 if every step gives the expected result.
set -eu

say() {
    echo "ci: $*"
}

say "the installed hosts get their expected plans"
cpubind fixture replay --format junit >cpubind.xml
grep -q '<testsuites .* failures="0" errors="0"' cpubind.xml

say "our hosts: two of the installed ones, and one from a bug report"
cpubind fixture export a2-192cpu-8npu our-a2
cpubind fixture export a3-640cpu-16npu our-a3
cpubind fixture import our-a2 our-a3 --db ours.db
mkdir -p report/proc/self report/sys/devices/system/node/node0
printf 'Name:\tworker\nCpus_allowed_list:\t0-15\n' >report/proc/self/status
echo 0-15 >report/sys/devices/system/node/node0/cpulist
cpubind capture --root report --db ours.db --name ticket-1 --devices npu0 -o total=1 -o device-type=a2 \
    --rules reference -o strategy=global_slice >capture.txt
cpubind fixture replay --db ours.db --format tap >ours.tap
grep -q '^ok .* ticket-1 default' ours.tap

say "a plan that changed is found: exit status and line"
cpubind fixture accept ticket-1 rank-0 --db ours.db -- --devices npu0 -o total=1 -o device-type=a2 \
    --rules reference -o strategy=global_slice --rank 0 >accept.txt
cpubind fixture export ticket-1 changed --db ours.db
sed 's/"pool": "0-15"/"pool": "0-14"/' changed/expect/default.json >expect.new
mv expect.new changed/expect/default.json
cpubind fixture import changed --replace --db ours.db
status=0
cpubind fixture replay ticket-1 --db ours.db >differs.txt || status=$?
[ "$status" -eq 1 ]
grep -q 'devices\[0\].pool: expected "0-14", got "0-15"' differs.txt

say "the changed plan is accepted after a review"
cpubind fixture accept ticket-1 --db ours.db >accept.txt
cpubind fixture replay ticket-1 --db ours.db
