"""world.py - the world of a scene: copies of the command, live processes, and what can change
SPDX-License-Identifier: MIT

A world has mount and pid namespaces of its own, with a /run and a /tmp of its own; this program
is its first process. The workers are real processes. Where a plan needs more CPUs than this
machine has, those of a thread are a file of affinity_shim.c.
"""
import contextlib
import mmap
import os
import re
import select
import signal
import stat
import struct
import subprocess
import time

LIMIT = 60  # seconds after which a command hangs


class Result:
    """What a command has said: the exit status, negative for a signal; None, it has hung. And
    whether its fault has come."""

    def __init__(self, status, out, err, came=False):
        self.rc = None if status is None else os.waitstatus_to_exitcode(status)
        self.out, self.err, self.came = out, err, came

    def said(self):
        return f'exit {self.rc}: {(self.err or self.out).strip()[-300:]!r}'


class Copies:
    """A command that starts copies of itself, each with a fault (sys_faults.c)."""

    def __init__(self, argv, outputs, pace):
        self.out, self.err = (os.open(f'{outputs}.{name}', os.O_RDWR | os.O_CREAT | os.O_APPEND)
                              for name in ('out', 'err'))
        read, self.ask = os.pipe()
        answer, write = os.pipe()
        seen = os.memfd_create('seen')
        os.ftruncate(seen, 8)
        self.seen = mmap.mmap(seen, 8)
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
            pass_fds=(read, write, seen),
            env={**os.environ, 'CPUBIND_FORKS': f'{read},{write},{seen}',
                 'CPUBIND_PACE': str(pace)})
        for file in (read, write, seen):
            os.close(file)
        self.answers = answer

    def answer(self):
        line = byte = b''
        while byte != b'\n':  # no more than the line: the next one is waited for
            byte = os.read(self.answers, 1)
            if not byte:
                raise EOFError(' '.join(self.process.args) + ' starts no more copies')
            line += byte
        return int(line)

    def came(self):
        """How often the fault of the copy has come."""
        return struct.unpack('ii', self.seen)[0]

    def waits(self):
        """How many periods the copy has begun to wait for."""
        return struct.unpack('ii', self.seen)[1]

    def start(self, line):
        for file in (self.out, self.err):
            os.ftruncate(file, 0)
        os.write(self.ask, (line + '\n').encode())
        return self.answer()

    def wait(self, pid):
        hangs = not select.select([self.answers], [], [], LIMIT)[0]
        if hangs:
            os.kill(pid, signal.SIGKILL)
        status = self.answer()
        out, err = (os.pread(file, 1 << 20, 0).decode(errors='replace')
                    for file in (self.out, self.err))
        return Result(None if hangs else status, out, err, self.came() > 0)

    def end(self):
        os.close(self.ask)
        self.process.wait()


def read_tree(top):
    """The files and links below a folder: {path: (mode, text)}."""
    found = {}
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode):
                with open(path, 'rb') as file:
                    found[path] = (stat.S_IMODE(mode), file.read())
            elif stat.S_ISLNK(mode):
                found[path] = (stat.S_IFLNK, os.readlink(path))
    return found


def write_tree(top, wanted):
    """Gives a folder the files that it had. Empty folders go; a lock stays: somebody may hold it."""
    now = read_tree(top)
    for path in now.keys() - wanted.keys():
        if path.endswith('.lock'):
            continue
        os.unlink(path)
        with contextlib.suppress(OSError):
            os.removedirs(os.path.dirname(path))
    os.makedirs(top, exist_ok=True)
    for path, (mode, text) in wanted.items():
        if now.get(path) == (mode, text) or path.endswith('.lock'):
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if mode == stat.S_IFLNK:
            os.symlink(text, path)
            continue
        with open(path, 'wb') as file:
            file.write(text)
        os.chmod(path, mode)


def cpu_list(cpus):
    return ','.join(str(cpu) for cpu in sorted(cpus))


class World:
    """The host of a scene, which tests/scenes/lib.sh has made, and its workers."""

    def __init__(self):
        self.cpubind = os.environ.get('CPUBIND', f"{os.environ['BUILD']}/cpubind")
        self.fast = os.environ.get('CPUBIND_FAST', self.cpubind)  # without sanitizers
        self.programs = os.path.join(os.environ['BUILD'], 'programs')
        self.fixtures = os.path.join(os.environ['BUILD'], 'fixtures.db')
        self.out = os.environ['out']
        self.host, self.a, self.b = (os.environ.get(name, '') for name in ('host', 'a', 'b'))
        self.live = os.environ.get('live')
        self.shim = os.environ.get('CPUBIND_SHIM')
        self.all = os.environ.get('all', self.a + ',' + self.b) + '\n'
        self.trees = ['/run']  # what a command may change, beside the CPUs of threads
        self.copies = {}
        self.pids = []

    def fill(self, text):
        """{0}, {1}: workers; {host}, {out}, {a} ...: as they are named here."""
        return text.format(*self.pids, **vars(self))

    # -- Processes --------------------------------------------------------------

    def start_worker(self, device=None, names=('acl_thread', 'other')):
        files = [] if device is None else [os.open(f'/dev/{name}', os.O_RDONLY)
                                           for name in (f'nvidia{device}', 'nvidia-uvm')]
        worker = subprocess.Popen([f'{self.programs}/worker', *names], stdout=subprocess.PIPE,
                                  pass_fds=files, start_new_session=True)
        assert worker.stdout.readline() == b'ready\n'
        for file in files:
            os.close(file)
        self.pids.append(worker.pid)
        return worker

    def threads(self):
        """Pairs of pid and tid."""
        for pid in self.pids:
            with contextlib.suppress(FileNotFoundError):
                yield from ((pid, int(tid)) for tid in os.listdir(f'/proc/{pid}/task'))

    def processes(self):
        while True:  # what has ended
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break
        return {int(name) for name in os.listdir('/proc') if name.isdigit()}

    # -- Commands ---------------------------------------------------------------

    def copies_of(self, command, fault='-', pace=1):
        """Under the sanitizers are the uses of the calls, and what fails first at a place."""
        program = self.cpubind if re.search('@|less|leaks', fault) else self.fast
        if (program, command) not in self.copies:
            words = [program, *map(self.fill, command.split())]
            self.copies[program, command] = Copies(words, f'/tmp/{len(self.copies)}', pace)
        return self.copies[program, command]

    def run(self, command, fault='-', during=None):
        """Runs the command, with what happens meanwhile: during(world, pid, copies)."""
        copies = self.copies_of(command, fault)
        pid = copies.start(fault)
        if during:
            during(self, pid, copies)
        return copies.wait(pid)

    def end(self):
        for copies in self.copies.values():
            copies.end()

    # -- What can change ----------------------------------------------------------

    def cpus_of(self, tid):
        if not self.shim:
            return cpu_list(os.sched_getaffinity(tid))
        with contextlib.suppress(FileNotFoundError):
            with open(f'{self.shim}/{tid}', encoding='ascii') as file:
                return file.read()
        return self.all

    def move(self, tid, cpus):
        if not self.shim:
            os.sched_setaffinity(tid, map(int, cpus.split(',')))
        else:
            with open(f'{self.shim}/{tid}', 'w', encoding='ascii') as file:
                file.write(cpus)

    def state(self):
        files = {}
        for top in self.trees:
            files.update(read_tree(top))
        masks = {thread: self.cpus_of(thread[1]) for thread in self.threads()}
        return {'masks': masks, 'files': files}

    def put(self, state):
        for pid, tid in self.threads():
            cpus = state['masks'].get((pid, tid))
            if cpus and self.cpus_of(tid) != cpus:
                self.move(tid, cpus)
        for top in self.trees:
            write_tree(top, {path: text for path, text in state['files'].items()
                             if path.startswith(top + '/')})

    def wait_for(self, is_so, seconds=LIMIT):
        end = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True
