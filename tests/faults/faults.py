#!/usr/bin/env python3
# runs: by hand
"""faults.py - each use of each system call of the command fails, in every scene; prints TAP
SPDX-License-Identifier: MIT

  tests/faults/faults.py [--sample] [SCENE...]     BUILD is where the sanitized command is, CPUBIND
                                                   another one, CPUBIND_FAST one for most faults
  tests/faults/faults.py --one SCENE CALL:NTH:WHAT  one fault

A scene (scenes.py) is a command and what must be true whatever fails. It runs once without a
fault; its uses of the calls are noted, with where in the sources each is. Of the uses at one
place the first, the second and the last fail, one in each run, with each error of the list below;
of places that an earlier scene has had, each third has one error more. A scene in which no fault has
come fails. Then
  - the exit status is one of those of the command, and a message says what has failed;
  - all is as before, or as after; or it is on record, and restore puts it back;
  - the command has not crashed, hung, or left a process;
  - after a call that was interrupted, or did a part, all is as without a fault;
  - after a kill, restore puts all back.
"""
import collections
import concurrent.futures
import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import play    # noqa: E402
import scenes  # noqa: E402
import world   # noqa: E402

AT_A_TIME = 3 * (os.cpu_count() or 1)
SAMPLE = 3  # faults of a scene
MET = 4  # of the places that an earlier scene has had, one in so many fails again
FEW = 5  # in a scene that waits

# How the world of a scene starts.
START = """mount -t tmpfs -o mode=755 tmpfs /run || exit
mount -t tmpfs -o mode=1777 tmpfs /tmp || exit
mkdir -p "$BUILD/out" && mount -t tmpfs tmpfs "$BUILD/out" || exit
set -a
CPUBIND_ISOLATED=yes ASAN_OPTIONS=quarantine_size_mb=1:malloc_context_size=1:handle_sigill=1
. tests/scenes/lib.sh
"""

# The errors of a call: of each class (no right, no more of it, broken, not there) that its
# manual page has. Calls that cannot fail are not here.
ERRORS = {
    'openat': 'EACCES EMFILE ENOENT EINTR',
    'open_beneath': 'ENOSYS EACCES EMFILE ENOENT',
    'readlinkat': 'EACCES EIO',
    'fstat': 'EIO',
    'statat': 'EACCES',
    'statat_known': 'EACCES',
    'accessat': 'EACCES EIO',
    'read': 'EIO EINTR less',
    'pread': 'EIO EINTR',
    'max_files': 'EINVAL',
    'close': 'EIO EINTR',
    'fdopendir': 'ENOMEM',
    'readdir': 'EIO',
    'closedir': 'EBADF',
    'uname': 'EFAULT',
    'mkdirat': 'EACCES ENOSPC kill',
    'create': 'ENOSPC EACCES EINTR kill',
    'write': 'ENOSPC EIO EINTR less kill',
    'fsync': 'EIO EINTR kill',
    'rename': 'EIO kill',
    'unlinkat': 'EACCES kill',
    'pipe': 'EMFILE',
    'spawn': 'EAGAIN ENOENT',
    'poll': 'ENOMEM EINTR',
    'waitpid': 'ECHILD EINTR',
    'kill': 'EPERM ESRCH',
    'thread_start': 'EAGAIN',
    'getaffinity': 'EPERM ESRCH',
    'setaffinity': 'EPERM EINVAL ESRCH kill',
    'perf_open': 'EACCES',
    'move_pages': 'EPERM ENOSYS',
    'pagemap_scan': 'ENOTTY',
    'set_mempolicy': 'EPERM ENOSYS',
    'pidfd_open': 'ENOSYS EMFILE ESRCH',
    'exec': 'EACCES ENOENT',
    'pidfd_send_signal': 'EPERM ENOSYS ESRCH',
    'flock': 'ENOLCK EINTR',
    'socket': 'EMFILE EAFNOSUPPORT',
    'connect': 'ECONNREFUSED EACCES EINTR',
    'sendmsg': 'EPIPE EINTR kill',
    'recv': 'ECONNRESET EINTR',
    'getsockopt': 'ENOPROTOOPT',
    'bind': 'EADDRINUSE',
    'setsockopt': 'EPERM',
    'recvfrom': 'ENOBUFS EINTR',
    'listen': 'EADDRINUSE',
    'accept': 'EMFILE EINTR',
    'fchmod': 'EPERM',
    'chmodat': 'EPERM',
    'epoll_open': 'EMFILE',
    'epoll_set': 'ENOSPC',
    'epoll_wait': 'EINTR',
    'timer_open': 'EMFILE',
    'timer_set': 'EINVAL',
    'signal_open': 'EMFILE',
    'malloc': 'ENOMEM',
    'realloc': 'ENOMEM',
}


# What is no failure that could stay.
PASSING = ('less', 'kill', 'EINTR')


def places_of(uses, changes):
    """The uses at each place of the sources: {place: (call, numbers)}. Until something has been
    changed it makes no difference what has led there further up: a place is the same in all
    scenes."""
    places = {}
    is_changed = False
    for line in uses:
        call, nth, *callers = line.split()
        place = (call, *callers) if is_changed else (call, *callers[:6])
        places.setdefault(place, (call, []))[1].append(int(nth))
        is_changed = is_changed or call in changes
    return places


def faults_of(places, met, is_short):
    """The faults of a scene. At a place that is in met, all errors come in an earlier scene: here
    comes one of them, at its last use, if any. Scenes that wait are not short."""
    some = MET if is_short else FEW
    failed = set()
    for number, (place, (call, nths)) in enumerate(places.items()):
        errors = ERRORS.get(call, '').split()
        if place in met:
            if errors and number % some == 0:
                yield f'{call}:{nths[-1]}:{errors[number // some % len(errors)]}'
            continue
        met.add(place)
        for index, what in enumerate(errors):
            is_each = is_short and (index == 0 or what == 'kill')
            for nth in sorted({nths[0], *nths[1:2], nths[-1]} if is_each else {nths[0]}):
                is_first = nth == nths[0] and index == 0
                yield f'{call}:{nth}:{what}' + (':leaks' if is_first else '')
            if is_short and what not in PASSING and (call, what) not in failed:
                yield f'{call}:{nths[0]}:{what}:forever'
            failed.add((call, what))


# == One scene ==============================================================


class Sources:
    """Where in the sources the uses of a scene are."""

    def __init__(self, uses, cpubind):
        self.cpubind = cpubind
        self.callers = {tuple(line.split()[:2]): line.split()[3:] for line in uses}

    def where(self, fault, most):
        """The command is linked for a fixed address."""
        callers = self.callers.get(tuple(fault.split(':')[:2]), [])[:most]
        addresses = [hex(int(caller, 16) + 0x400000 - 1) for caller in callers]
        words = ['addr2line', '-e', self.cpubind, '-f', '-p', '-s', *addresses]
        with contextlib.suppress(FileNotFoundError):
            said = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  check=False).stdout
            return ', '.join(re.sub(' \\(disc.*', '', line) for line in said.splitlines())
        return ''


def job(name, one=None):
    """In a world of its own: says its uses, is told its faults, says what is wrong."""
    scene = next(scene for scene in scenes.SCENES if scene.name == name)
    w = world.World()
    scene_play = play.Play(scene, w)
    uses = scene_play.uses()
    sources = Sources(uses, w.cpubind)
    if one:
        right, (result, wrong) = scene_play.right, scene_play.try_fault(one)
        print('without a fault:', right.out, right.err, f'exit {right.rc}', f'with {one}:',
              result.out, result.err, f'exit {result.rc}', wrong or 'as it should be',
              sources.where(one, 10), sep='\n')
    else:
        print(json.dumps(uses), flush=True)
        faults = json.loads(sys.stdin.readline())
        begun = time.monotonic()
        wrong, came = [], 0
        for fault in faults:
            result, why = scene_play.try_fault(fault)
            came += result.came
            if why:
                wrong.append((fault, why, sources.where(fault, 3)))
        print(json.dumps({'came': came, 'missed': len(faults) - came, 'wrong': wrong,
                          'seconds': time.monotonic() - begun}))
    w.end()


# == All of them ============================================================


class Job:
    """A scene, or a part of its faults, in a process of its own, which ends with this one."""

    def __init__(self, scene, part, *words):
        name = f'faults_{scene.name}_{part}'.replace(' ', '_')
        self.process = subprocess.Popen(
            ['setpriv', '--pdeathsig', 'KILL',
             'unshare', '-m', '-p', '-f', '--kill-child', '--mount-proc',
             'sh', '-c', START + scene.world + ' && exec "$@"', name,
             sys.executable, __file__, '--job', scene.name, *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def told(self):
        """What it says next; None, it has ended in another way."""
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def tell(self, words):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(words) + '\n')
            self.process.stdin.flush()


class Jobs:
    """The jobs of the scenes, several at a time. They are told their faults in order."""

    def __init__(self, wanted, is_sample):
        self.is_sample = is_sample
        self.parts = [(scene, part) for scene in wanted
                      for part in range(1 if is_sample else scene.parts)]
        self.met, self.faults, self.n_told = set(), [], 0
        self.turn = threading.Condition()

    def faults_of(self, index, uses):
        """Those of a part, and what the scene has: of it the first part says it."""
        scene, part = self.parts[index]
        has = {}
        with self.turn:
            self.turn.wait_for(lambda: self.n_told == index)
            if part == 0:
                places = places_of(uses, () if scene.during else play.CHANGES)
                has = {'uses': len(uses), 'places': len(places),
                       'new': len(places.keys() - self.met)}
                faults = list(dict.fromkeys(faults_of(places, self.met, not scene.during)))
                every = max(scene.every, len(faults) // SAMPLE if self.is_sample else 1)
                self.faults = faults[every // 2::every] + [*scene.more]
            self.n_told += 1
            self.turn.notify_all()
            return has, self.faults[part::1 if self.is_sample else scene.parts]

    def run(self, index):
        a_job = Job(*self.parts[index])
        has, faults = self.faults_of(index, a_job.told() or [])
        a_job.tell(faults)
        done = a_job.told()
        a_job.process.wait()
        return has | (done or {'wrong': [('-', 'the scene has ended', '')]})

    def results(self):
        """Of each scene, the sums of what its jobs have found."""
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            done = zip(self.parts, pool.map(self.run, range(len(self.parts))))
            for name, jobs in itertools.groupby(done, lambda job: job[0][0].name):
                sums = {'came': 0, 'missed': 0, 'seconds': 0, 'wrong': []}
                for _, found in jobs:
                    sums |= {key: sums.get(key, 0) + found[key] for key in found
                             if key != 'wrong'}
                    sums['wrong'] += found['wrong']
                if not sums['came']:
                    sums['wrong'] += [('-', 'no fault has come: this scene tests nothing', '')]
                yield name, sums


def show(wrong):
    """What is wrong, each kind of it once."""
    kinds = collections.defaultdict(list)
    for fault, why, where in wrong:
        kinds[play.plain(why)[:60], where].append((fault, why))
    for (_, where), found in kinds.items():
        more = f' and {len(found) - 4} more' if len(found) > 4 else ''
        faults = ' '.join(fault for fault, _ in found[:4]) + more
        print(f'#   {faults}: {found[0][1][:400]!r}\n#       {where}')


def main(words):
    if words[:1] == ['--job']:
        return job(words[1], *words[2:])
    is_sample = '--sample' in words
    asked = set(words) - {'--sample'}
    wanted = [scene for scene in scenes.SCENES if not asked or scene.name in asked]
    if words[:1] == ['--one']:
        print(Job(wanted[0], 'one', words[2]).process.communicate()[0])
        return 0
    sums = collections.Counter()
    begun = time.monotonic()
    for number, (name, done) in enumerate(Jobs(wanted, is_sample).results(), 1):
        is_wrong = bool(done['wrong'])
        sums.update(faults=done['came'], missed=done['missed'], wrong=is_wrong)
        print(f"{'not ok' if is_wrong else 'ok'} {number} - {name}: {done['came']} faults at"
              f" {done.get('places', 0)} places ({done.get('new', 0)} in no scene before it) of"
              f" {done.get('uses', 0)} uses; {done['missed']} were not met;"
              f" {done['seconds']:.1f} s", flush=True)
        show(done['wrong'])
    print(f"1..{len(wanted)}\n# {sums['faults']} faults have come, {sums['missed']} have not,"
          f' in {time.monotonic() - begun:.0f} s')
    return int(sums['wrong'] > 0)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
