"""play.py - a scene in a world, and the laws that hold whatever fails
SPDX-License-Identifier: MIT
"""
import contextlib
import dataclasses
import errno
import os
import re

# Calls after which something is not as before.
CHANGES = ('rename', 'setaffinity', 'unlinkat', 'sendmsg')

# What the kernel says of what is not there: a thread that has just ended, a file that it does not
# have. It is true for the command.
ABSENT = ('ENOENT', 'ESRCH')

# Files of the kernel that take a value at once.
AT_ONCE = 'smp_affinity_list|cpumask|this interrupt'

# Files that say nothing about a binding, or are removed by the next command: locks (another command
# may hold one), what npu-smi has said (for other ranks), the service's and the measurement's own,
# and temporary files of killed commands that no lock is for.
PASSED = (r'\.lock$|\.json$|/\.?npu-smi\.[^/]*$|/\.?(service|measure)\.|'
          r'/\.host\.record\.[^/]*$|/asked$')

# Files of a host whose text is a part of a binding.
VALUES = r'/(smp_affinity_list|cpumask|bans)$'

REASON = ('cannot|could not|not known|unknown|memory|is not|are not|forbids|refuse|fail|limit|'
          'skipped|not judged|no service|has ended|does not|left out|another plan|'
          'no interrupt is bound|none of its CPUs|' +
          '|'.join(os.strerror(number) for number in errno.errorcode))


@dataclasses.dataclass
class Scene:
    """A command, and what is true of it; {0}: the first worker; {host} ...: see World."""
    name: str
    command: str
    law: object                # what must be true after a fault
    begin: str = ''            # a command that makes the state before
    workers: tuple = (5,)      # the numbers of their devices
    exits: tuple = (1, 3, 4)   # beside that without a fault
    unseen: tuple = ()         # errors by which a file is of another user, and none here
    world: str = 'use_gpus'    # of tests/scenes/lib.sh
    trees: tuple = ()          # what the command may write, beside /run
    setup: object = None       # what else the world has: setup(world) -> its state, or None
    each: object = None        # what there is each time: each(play)
    during: object = None      # what happens while it runs: during(world, pid, copies)
    pace: int = 1              # 5: time passes five times as fast for it
    mend: str = 'restore --all --quiet'
    parts: int = 1             # how many worlds share its faults
    more: tuple = ()           # faults beside those of the list
    every: int = 1             # 5: each fifth of its faults
    is_steady: bool = True     # it says the same each time


class Play:
    """A scene in a world."""

    def __init__(self, scene, world):
        self.scene, self.world = scene, world
        for tree in scene.trees:
            world.trees.append(world.fill(tree))
            os.makedirs(world.trees[-1], exist_ok=True)
        for device in scene.workers:
            world.start_worker(device)
        self.clean = (scene.setup and scene.setup(world)) or world.state()
        if scene.begin:
            result = world.run(scene.begin)
            assert result.rc == 0, result.said()
        self.before = world.state()
        for fault in ('-', '@'):
            world.copies_of(scene.command, fault, scene.pace)
        if scene.mend:
            world.copies_of(scene.mend)
        self.known = world.processes()
        self.right = self.play('-')
        self.after = world.state()

    def play(self, fault):
        for _ in range(3):
            self.world.put(self.before)
            if self.scene.each:
                self.scene.each(self)
            result = self.world.run(self.scene.command, fault, self.scene.during)
            if 'born faster' not in result.out + result.err:  # than a busy machine looks
                break
        return result

    def uses(self):
        """Lines CALL NTH CALLER ... of a run without a fault."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink('/tmp/calls')
        self.play('@/tmp/calls')
        with open('/tmp/calls', encoding='ascii') as file:
            return file.readlines()

    def try_fault(self, fault):
        """The result, and what is wrong with it."""
        result = self.play(fault)
        what = fault.split(':')[2]
        self.is_forever = fault.endswith(':forever')
        return result, self.crash(result, what) or self.judge(result, what)

    def crash(self, result, what):
        if result.rc is None:
            return 'it hangs'
        if 'Sanitizer' in result.err:
            return result.err[:2000]
        if result.rc < 0 and result.rc != self.right.rc and what != 'kill':
            return result.said()
        if not self.world.wait_for(lambda: not self.world.processes() - self.known, 5):
            return 'a process is left'
        return None

    def judge(self, result, what):
        now = self.world.state()
        scene, right = self.scene, self.right
        if what == 'kill':
            return self.mends(now)
        is_other = result.rc != right.rc
        is_absent = what in ABSENT
        if what != 'ENOMEM' and re.search('no memory|Cannot allocate', result.out + result.err):
            return f'there is memory: {result.said()}'
        if is_other and result.rc not in scene.exits and not (is_absent and result.rc == 0):
            return result.said()
        is_cut = what == 'less' and re.search(AT_ONCE, result.err + result.out)
        is_whole = what in ('EINTR', 'less') and not is_cut
        if is_whole and scene.is_steady:
            if is_other or plain(result.out) != plain(right.out):
                return 'not as without it: ' + result.said()
            return None if is_as(now, self.after) else self.differs(now, self.after)
        if is_other and what not in ABSENT + scene.unseen and not self.reason(result):
            return f'{result.said()}, without a reason'
        # What a file of the kernel has after a part of a value was written is nobody's.
        is_lost = is_absent or is_cut
        return scene.law(self, result, now, what) or (None if is_lost else self.mends(now))

    def reason(self, result):
        """Whether a line that is said with a fault alone says that something could not be done."""
        right = self.right.out + self.right.err
        lines = set((result.out + result.err).splitlines()) - set(right.splitlines())
        return any(re.search(REASON, line) for line in lines)

    def differs(self, now, then):
        lines = [f"thread {thread[1]} is on {cpus}, not on {then['masks'].get(thread)}"
                 for thread, cpus in now['masks'].items() if cpus != then['masks'].get(thread)]
        for path in sorted(now['files'].keys() ^ then['files'].keys()):
            lines.append(f"{path} {'is there' if path in now['files'] else 'is gone'}")
        was = values(then)
        lines += [f'{path} has {text[1]!r}, not {was[path][1]!r}'
                  for path, text in values(now).items() if path in was and was[path] != text]
        return '; '.join(lines)

    def mends(self, now):
        """A restore without a fault puts all back."""
        if not self.scene.mend or now in (self.before, self.after):
            return None
        result = self.world.run(self.scene.mend)
        now = self.world.state()
        if not is_as(now, self.clean):
            return f'restore does not mend, {result.said()}: {self.differs(now, self.clean)}'
        return None


def plain(text):
    """Without numbers, such as times, and without the name of a device, for which a host must be
    read, and the blanks behind it."""
    return re.sub(r'gpu[0-9]+ \([^)]*\)|(0000:0[12]:00.0|gpu[0-9]+|device) *|[0-9]+', '', text)


def names(state):
    """Of files; the pid of a command that has bound itself is another one each time."""
    return sorted(plain(path) for path in state['files'] if not re.search(PASSED, path))


def values(state):
    return {path: text for path, text in state['files'].items() if re.search(VALUES, path)}


def is_as(now, then):
    return (now['masks'] == then['masks'] and names(now) == names(then) and
            values(now) == values(then))


def of_process(state, pid):
    return {thread: cpus for thread, cpus in state['masks'].items() if thread[0] == pid}


# == Laws ===================================================================


def reads(play, result, now, what):
    """Nothing is changed. What is said is the same, or why it is not."""
    if not is_as(now, play.before):
        return 'changed: ' + play.differs(now, play.before)
    is_same = plain(result.out) == plain(play.right.out)
    if not is_same and what not in ABSENT + play.scene.unseen and not play.reason(result):
        return f'another answer, and not why: {result.out[-300:]!r}'
    return None


def binds(play, result, now, what):
    """All or nothing; what is between is on record, and said."""
    is_done = is_as(now, play.after) or what in ABSENT + play.scene.unseen
    if result.rc == 0 and not is_done and not play.reason(result):
        return f'said to be done, but {play.differs(now, play.after)}'
    for pid in play.world.pids if result.rc != 0 else ():
        masks = of_process(now, pid)
        if masks == of_process(play.before, pid) or (what in ABSENT and play.is_forever):
            continue  # one that is not there at all has nothing that could be put back
        if len(play.world.pids) > 1 and masks == of_process(play.after, pid):
            continue  # one that fails does not keep others from being bound
        if f'/run/cpubind/{pid}.record' not in now['files']:
            return 'half bound, without a record: ' + play.differs(now, play.before)
        if not re.search('restore|put back|stays', result.err + result.out):
            return 'not as before, and not said: ' + result.said()
    return None


def runs(play, result, now, what):
    """The command runs bound; or it does not run, or it is said that it runs unbound, and nothing is
    on record of it."""
    is_free = result.rc != 0 or 'started without being bound' in result.err
    if what not in ABSENT and not is_free and result.out != play.right.out:
        return f'bound to {result.out!r}'
    if is_free and ((result.rc != 0 and result.out) or not is_as(now, play.before)):
        return f'{result.said()}, but {play.differs(now, play.before)}'
    return None


def makes(play, result, now, what):
    """The files are as before or as after, or it is said what they lack. What the kernel says is not
    there nobody can say more of."""
    is_done = is_as(now, play.after) or re.search('left out: |no plan: |another plan:', result.out + result.err)
    if what not in ABSENT and result.rc == play.right.rc and not is_done and not play.reason(result):
        return f'said to be done, but {play.differs(now, play.after)}'
    if result.rc != play.right.rc and not is_done and not is_as(now, play.before):
        return f'{result.said()}, but {play.differs(now, play.before)}'
    return None


def beside(play, result, now, what):
    """The service goes on, whatever fails of a command that asks it."""
    return None if play.world.service.poll() is None else 'the service has ended'
