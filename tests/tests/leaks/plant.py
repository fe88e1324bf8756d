#!/usr/bin/env python3
"""Plants leaks of kernel objects, one object a second, each by a program of its own name.

plant.py KIND SECONDS [FOLDER]: a leak of one kind until it is told to end, or for SECONDS. Prints `ready` once it leaks, or
`lacking: WHY` with status 3 where this kernel or machine does not have it. What the end of the program does not free, it
removes itself. FOLDER is on a tmpfs where a kind needs one.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

SYS_ADD_KEY, SYS_KEYCTL = 248, 250
KEYCTL_JOIN_SESSION_KEYRING = 1


def checked(result):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def epoll(_):
    import select

    poll, (end, _) = select.epoll(), os.pipe()
    return lambda at: poll.register(os.dup(end), select.EPOLLIN)


def eventfd(_):
    return lambda at: os.eventfd(0)


def pipe(_):
    return lambda at: os.pipe()


def key(_):
    checked(libc.syscall(SYS_KEYCTL, KEYCTL_JOIN_SESSION_KEYRING, 0))

    def leak(at):
        name = f"slablab-{os.getpid()}-{at}".encode()
        checked(libc.syscall(SYS_ADD_KEY, b"user", name, b"content", 7, -3))

    return leak


def inotify(folder):
    fd = checked(libc.inotify_init1(0))

    def leak(at):
        path = os.path.join(folder, f"watched-{at}")
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        checked(libc.inotify_add_watch(fd, path.encode(), 2))

    return leak


CGROUPS = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"]


def cgroup(_):
    root = next(path for path in CGROUPS if os.path.exists(path + "/cgroup.procs"))
    made = []

    def leak(at):
        path = f"{root}/slablab-{os.getpid()}-{at}"
        os.mkdir(path)
        made.append(path)

    leak.undo = lambda: [os.rmdir(path) for path in made]
    return leak


def in_flight(_):
    kept = []

    def leak(at):
        ours, theirs = socket.socketpair()
        flying, other = socket.socketpair()
        socket.send_fds(ours, [b"x"], [flying.fileno()])
        flying.close()
        other.close()
        kept.append((ours, theirs))

    return leak


def timer(_):
    def leak(at):
        # SIGEV_NONE
        event = struct.pack("qii48x", 0, 0, 1)
        number = ctypes.c_int()
        checked(libc.timer_create(1, event, ctypes.byref(number)))

    return leak


def xattr(folder):
    path = os.path.join(folder, "attributes")
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    return lambda at: os.setxattr(path, f"trusted.slablab{at}", b"x" * 200)


def message(_):
    queue = checked(libc.msgget(0, 0o600))
    text = ctypes.create_string_buffer(struct.pack("q", 1) + b"x" * 100)
    limits = struct.pack("i", 0)

    def leak(at):
        checked(libc.msgsnd(queue, text, 100, 0o4000))

    leak.undo = lambda: libc.msgctl(queue, 0, limits)
    return leak


def shared_memory(_):
    made = []
    leak = lambda at: made.append(checked(libc.shmget(0, 4096, 0o600)))
    leak.undo = lambda: [libc.shmctl(number, 0, None) for number in made]
    return leak


def semaphore(_):
    made = []
    leak = lambda at: made.append(checked(libc.semget(0, 1, 0o600)))
    leak.undo = lambda: [libc.semctl(number, 0, 0, None) for number in made]
    return leak


def file_lock(folder):
    fd = os.open(os.path.join(folder, "locked"), os.O_CREAT | os.O_RDWR)
    return lambda at: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 10 * at)


def timerfd(_):
    return lambda at: checked(libc.timerfd_create(1, 0))


def udp_socket(_):
    kept = []
    return lambda at: kept.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))


def mapping(_):
    libc.mmap.restype = ctypes.c_void_p

    # One page readable, the next one not: neighbours do not become one mapping.
    def leak(at):
        libc.mmap(None, 4096, 1 + at % 2 * 2, 0x22, -1, 0)

    return leak


def queued_signal(_):
    number = signal.SIGRTMIN + 3
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    return lambda at: os.kill(os.getpid(), number)


def loop_device(_):
    control = os.open("/dev/loop-control", os.O_RDWR)
    made = []
    first = 1000

    def leak(at):
        made.append(fcntl.ioctl(control, 0x4C80, first + at))

    leak.undo = lambda: [fcntl.ioctl(control, 0x4C81, number) for number in made]
    return leak


def many_names(_):
    """Each second a program that lives for a moment, with a name of its own, leaves a message queue."""
    made = []

    def leak(at):
        end, start = os.pipe()
        child = os.fork()
        if child == 0:
            libc.prctl(15, f"job-{at}".encode(), 0, 0, 0)
            number = libc.msgget(0, 0o600)
            os.write(start, struct.pack("i", number))
            os._exit(0)
        os.waitpid(child, 0)
        made.append(checked(struct.unpack("i", os.read(end, 4))[0]))
        os.close(end)
        os.close(start)

    leak.undo = lambda: [libc.msgctl(number, 0, None) for number in made]
    return leak


KINDS = {
    "many-names": many_names,
    "epoll": epoll,
    "eventfd": eventfd,
    "pipe": pipe,
    "key": key,
    "inotify": inotify,
    "cgroup": cgroup,
    "in-flight": in_flight,
    "timer": timer,
    "xattr": xattr,
    "message": message,
    "shared-memory": shared_memory,
    "semaphore": semaphore,
    "file-lock": file_lock,
    "timerfd": timerfd,
    "udp-socket": udp_socket,
    "mapping": mapping,
    "queued-signal": queued_signal,
    "loop-device": loop_device,
}


def main():
    kind, seconds = sys.argv[1], float(sys.argv[2])
    folder = sys.argv[3] if len(sys.argv) > 3 else "/dev/shm"
    # PR_SET_NAME
    libc.prctl(15, f"leak-{kind}"[:15].encode(), 0, 0, 0)
    # PR_SET_PDEATHSIG: no leak outlives the test.
    libc.prctl(1, signal.SIGTERM, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    leak = None
    try:
        try:
            leak = KINDS[kind](folder)
            leak(0)
        except (OSError, StopIteration, AttributeError) as error:
            print(f"lacking: {error!r}", flush=True)
            sys.exit(3)
        print("ready", flush=True)
        start, at = time.monotonic(), 1
        while time.monotonic() < start + seconds:
            time.sleep(max(0, start + at - time.monotonic()))
            leak(at)
            at += 1
    finally:
        if hasattr(leak, "undo"):
            leak.undo()


main()
