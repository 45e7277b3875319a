"""scenes.py - the scenes: commands, how the world is before, and what happens meanwhile
SPDX-License-Identifier: MIT
"""
import contextlib
import os
import signal
import subprocess

from play import Scene, beside, binds, makes, reads, runs

# == What is there before =================================================


def start_tree(world):
    """A server, its worker on a device, and a process without one."""
    worker = f'{world.programs}/worker'
    server = subprocess.Popen(
        ['sh', '-c', f'{worker} one & exec 3</dev/nvidia5 5</dev/nvidia-uvm; {worker} two & wait'],
        stdout=subprocess.PIPE, start_new_session=True)
    assert [server.stdout.readline() for _ in range(2)] == [b'ready\n'] * 2
    world.pids.append(server.pid)
    with open(f'/proc/{server.pid}/task/{server.pid}/children', encoding='ascii') as file:
        world.pids.extend(map(int, file.read().split()))


def settings(*lines):
    def setup(_):
        with open('/run/conf', 'w', encoding='ascii') as file:
            print('memory = none', 'watch = 1', *lines, sep='\n', file=file)
    return setup


def start_service(world):
    settings()(world)
    with open('/tmp/service', 'wb') as log:
        world.service = subprocess.Popen(
            [world.fast, 'service', '/run/conf', '--root', world.host], stderr=log)
    world.wait_for(lambda: is_bound(world))


def start_watch(a_play):
    """A watch, which the command ends."""
    world = a_play.world
    if not hasattr(world, 'watch') or world.watch.poll() is not None:
        words = [world.fast, *map(world.fill, f'{BIND} --watch 1'.split())]
        world.watch = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        while b'stays' not in (line := world.watch.stdout.readline()) and line:
            if b'events' in line:  # it watches from now on
                break
    a_play.known.add(world.watch.pid)


def start_irqbalance(world):
    """A daemon that bans an interrupt, and whose list is in a file."""
    folder = world.fill('{out}/daemon')
    with open(f'{folder}/bans', 'w', encoding='ascii') as file:
        file.write('17\n')
    env = {name: value for name, value in os.environ.items() if name != 'LD_PRELOAD'}
    world.daemon = subprocess.Popen(
        ['python3', 'tests/scenes/programs/irqbalance_double.py', folder, 'run', 'stays'],
        stdout=subprocess.PIPE, env=env)
    assert world.daemon.stdout.readline() == b'ready\n'


def start_poller(world):
    world.start_worker(None, ('uvb_poll_window_thread', 'other'))


# == What happens meanwhile =================================================


def is_over(pid):
    """Whether a copy has ended; its parent waits for it."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
            return file.read().rpartition(')')[2].split()[0] == 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return True


def is_bound(world):
    return all(world.cpus_of(tid) != world.all.strip() for _, tid in world.threads())


def send(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def once_bound(world, pid, copies):
    """It ends by a signal once all is bound, or it has looked often enough."""
    world.wait_for(lambda: is_over(pid) or is_bound(world) or copies.waits() > 2, 5)
    send(pid, signal.SIGTERM)


def reload(world, pid, copies):
    """It reads its settings anew, and looks at all again."""
    world.wait_for(lambda: is_over(pid) or is_bound(world) or copies.waits() > 2, 5)
    waits = copies.waits()
    send(pid, signal.SIGHUP)
    world.wait_for(lambda: is_over(pid) or copies.waits() > waits + 1, 5)
    send(pid, signal.SIGTERM)


def period(world, pid, copies):
    """It looks twice."""
    world.wait_for(lambda: is_over(pid) or copies.waits() > 1, 5)
    send(pid, signal.SIGTERM)


# == Scenes =================================================================

ON = '--root {host} --memory none --thread acl_thread={b}'
ALL = '--all --root {host} --memory none'
BIND = f'apply --pid {{0}} {ON}'
BIND_ALL = f'apply {ALL}'
SERVICE = 'service /run/conf --root {host}'
SHOW = '-- grep Cpus_allowed_list /proc/self/status'
NPU = 'apply --pid {0} --device npu0 --allowed 0-191 --rules reference'
DIR = '{out}/made'
CAPTURE = f'capture --root {{host}} --output {DIR}/host'

TWO = {'workers': (5, 7)}
FAST = {'pace': 5}
OF_RUN = {'exits': (125, 126, 127)}
FILES = {'workers': (), 'trees': (DIR,), 'mend': ''}
ASKS = {'setup': start_service, 'mend': ''}
NPUS = {'world': 'use_live_npus', 'workers': (None,), 'trees': ('{live}/proc/irq',)}
BALANCED = {**NPUS, 'trees': ('{live}/proc/irq', '{out}/daemon'), 'setup': start_irqbalance,
            'is_steady': False}
POLLS = {'world': 'use_shim 256', 'workers': (None,), 'setup': start_poller}
POLLED = 'apply --pid {0} --fixture 950-smt1-256cpu --allowed 0-255 --device npu0 --memory none'
# A process of another user is none here.
SEES = {'unseen': ('EACCES',)}

SCENES = (
    Scene('plan', 'plan --root {host}', reads, workers=()),
    Scene('topo', 'topo --root {host} --nics', reads, workers=()),
    Scene('doctor', 'doctor --root {host}', reads, BIND),
    Scene('status', 'status --root {host} --memory none', reads, BIND, **SEES,
          more=('openat:6:EMFILE', 'openat:7:EMFILE')),
    Scene('apply', BIND, binds),
    Scene('apply again', BIND, binds, BIND),
    Scene('apply anew', 'apply --pid {0} --root {host} --memory none --exclude {a}', binds, BIND),
    Scene('apply all', BIND_ALL, binds, **TWO, **SEES),
    Scene('apply tree', 'apply --tree --pid {0} --root {host} --memory none --keep {b}', binds,
          workers=(), setup=start_tree, **SEES),
    Scene('verify', 'verify --pid {0}', reads, BIND),
    Scene('verify all', f'verify {ALL}', reads, BIND_ALL, **TWO, **SEES),
    Scene('restore', 'restore --pid {0}', binds, BIND),
    Scene('restore all', 'restore --all', binds, BIND_ALL, **TWO),
    Scene('restore what is watched', 'restore --pid {0}', binds, BIND, each=start_watch,
          is_steady=False),
    Scene('run', f'run --device gpu0 --root {{host}} {SHOW}', runs, **OF_RUN),
    Scene('run numa-bind', f'run --numa-bind --index 0 --root {{host}} {SHOW}', runs, **OF_RUN),
    Scene('run tree', 'run --tree --root {host} --quiet -- true', runs, **OF_RUN),
    Scene('capture', CAPTURE, makes, **FILES),
    Scene('capture again', f'{CAPTURE}.host --replace --quiet', makes, f'{CAPTURE}.host', **FILES),
    Scene('capture redacted', f'capture --root {{host}} --output {DIR}/a.host --name a --redact',
          makes, **FILES),
    Scene('export', f'fixture export a2-holes {DIR}/host --db {{fixtures}}', makes, **FILES),
    Scene('import', f'fixture import --db {DIR}/x.db fixtures/hosts/a2-holes.host', makes, **FILES),
    Scene('import again', f'fixture import --db {DIR}/x.db fixtures/hosts/too-few.host', makes,
          f'fixture import --db {DIR}/x.db fixtures/hosts/a2-holes.host', **FILES),
    Scene('remove', f'fixture remove --db {DIR}/x.db a2-holes default', makes,
          f'fixture import --db {DIR}/x.db fixtures/hosts/a2-holes.host', **FILES),
    Scene('replay', 'fixture replay --db {fixtures} a2-holes', reads, workers=(), mend=''),
    Scene('service', SERVICE, binds, **TWO, setup=settings(), during=once_bound, **FAST, parts=2,
          more=('read:150:EIO:forever',)),
    Scene('service reload', SERVICE, binds, **TWO, setup=settings(), during=reload, **FAST,
          parts=4),
    Scene('service ends', SERVICE, binds, **TWO, setup=settings('restore-at-end = yes'),
          during=once_bound, **FAST, parts=2),
    Scene('status of a service', 'status --root {host} --memory none', reads, **ASKS, **SEES),
    Scene('is it alive', 'service --ask alive', reads, **ASKS),
    Scene('restore beside a service', 'restore --pid {0}', beside, **ASKS, is_steady=False),
    Scene('apply beside a service', BIND, beside, **ASKS, is_steady=False, every=3),
    Scene('watch', f'{BIND} --watch 1', binds, during=period, **FAST, parts=4),
    Scene('watch all', f'{BIND_ALL} --watch 1', binds, **TWO, **SEES, during=period, **FAST,
          parts=4),
    Scene('status watch', 'status --root {host} --memory none --watch 1', reads, **SEES,
          during=period, **FAST, parts=4),
    Scene('measure', 'measure --pid {0} --root {host} --time 1 --between unbound,near', binds,
          parts=4, every=5, is_steady=False, **SEES, **FAST),
    Scene('live plan', 'plan', reads, world='use_live_npus', workers=()),
    Scene('apply with interrupts', NPU, binds, **NPUS),
    Scene('verify with interrupts', 'verify --pid {0}', reads, NPU, **NPUS),
    Scene('restore with interrupts', 'restore --pid {0}', binds, NPU, **NPUS),
    Scene('apply another device', 'apply --pid {0} --device npu5 --allowed 0-191 --rules reference', binds,
          NPU, **NPUS, **SEES),
    Scene('apply with bans', f'{NPU} --memory none -o irqbalance=ban', binds, **BALANCED),
    Scene('restore with bans', 'restore --pid {0}', binds,
          f'{NPU} --memory none -o irqbalance=ban', **BALANCED),
    Scene('apply with polling threads', POLLED, binds, **POLLS),
    Scene('verify polling threads', 'verify --pid {0}', reads, POLLED, **POLLS),
    Scene('restore polling threads', 'restore --pid {0}', binds, POLLED, **POLLS),
    Scene('doctor fix', 'doctor --fix', makes, world='use_live_npus', workers=(),
          trees=('{live}/proc/irq',), mend='doctor --restore'),
)
