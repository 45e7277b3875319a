#!/bin/sh
# epilog.sh - what Slurm runs on a node when a job has ended there (Epilog= in slurm.conf)
# SPDX-License-Identifier: MIT
#
# When slurmstepd was killed, Slurm ends no task of its step, and nobody puts their interrupts
# back: this ends what is left of the job in its cgroup of version 2, and restores. A node whose
# epilog fails is drained: it always exits with 0. The node takes no job while it runs: what hangs
# is left after some seconds.
PATH=/usr/local/bin:/usr/bin:/bin
for job in /sys/fs/cgroup/system.slice/*slurmstepd.scope/job_"${SLURM_JOB_ID:-none}"; do
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        grep -q -x 'populated 1' "$job/cgroup.events" || break
        find "$job" -name cgroup.procs -exec cat {} + | while read -r pid; do kill -KILL "$pid"; done
        sleep 1
    done
done 2>/dev/null
timeout -k 1 10 cpubind restore --ended --quiet
exit 0
