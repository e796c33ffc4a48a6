"""Isolation of a child process on Linux: it gives up rights that no reader of a file needs.

Afterwards it reads only the files and folders that it was given and those of Python and the system, changes no file,
opens no socket, starts no program or process, and sends no signal. No privileges are needed. Two mechanisms of the
kernel do this, and each holds without the other: Landlock (Linux 5.13) for files, seccomp for system calls (on x86-64
and AArch64). What a system lacks is left out; other systems have neither.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress

# Fixed by: the interface of Linux (linux/prctl.h, linux/landlock.h, linux/seccomp.h, linux/filter.h, asm/unistd.h).
SET_NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
GET_VERSION, PATH_BENEATH = 1, 1
READ_FILE, READ_FOLDER = 1 << 2, 1 << 3
# The first version of Landlock controls 13 kinds of access to files; later ones add moving, truncating and ioctl.
ACCESS_KINDS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
LOAD, JUMP_IF_EQUAL, JUMP_IF_NOT_LESS, JUMP_IF_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # places in seccomp_data
ALLOW, FAIL = 0x7FFF0000, 0x00050000
CLONE_THREAD = 0x10000
OTHER_NUMBERS = 0x40000000  # from here on, the numbers are those of the 32-bit variant of x86-64
# By machine: its number, and the numbers of the system calls that are refused: socket, socketpair, fork, vfork, execve,
# kill, tkill, ptrace, execveat, process_vm_writev, pidfd_send_signal, io_uring_setup; then clone and clone3.
SYSTEM_CALLS = {
    "x86_64": (0xC000003E, (41, 53, 57, 58, 59, 62, 200, 101, 322, 311, 424, 425), 56, 435),
    "aarch64": (0xC00000B7, (198, 199, 221, 129, 130, 117, 281, 271, 424, 425), 220, 435),
}
SYSTEM_PATHS = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom")


def isolate(readable: Iterable[str]) -> None:
    """Give up the rights of this process, which must have a single thread; ``readable`` are files and folders."""
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _restrict_files(library, [*SYSTEM_PATHS, *_list_python_folders(), *readable])
    _restrict_calls(library)


def _list_python_folders() -> list[str]:
    """Return the folders of Python and its packages; a script in the home folder does not make that one of them."""
    home = os.path.realpath(os.path.expanduser("~"))
    folders = [os.path.realpath(folder) for folder in (sys.prefix, sys.base_prefix, *sys.path)]
    return [folder for folder in folders if os.path.commonpath([folder, home]) != folder]


def _restrict_files(library: ctypes.CDLL, readable: Iterable[str]) -> None:
    version = library.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), GET_VERSION)
    if version < 1:
        return
    kinds = ctypes.c_uint64((1 << ACCESS_KINDS[min(version, max(ACCESS_KINDS))]) - 1)
    ruleset = library.syscall(CREATE_RULESET, ctypes.byref(kinds), ctypes.c_size_t(8), 0)
    for path in dict.fromkeys(readable):
        with suppress(OSError):  # it does not exist
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            access = READ_FILE | READ_FOLDER if os.path.isdir(path) else READ_FILE
            library.syscall(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", access, descriptor), 0)
            os.close(descriptor)
    library.syscall(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _restrict_calls(library: ctypes.CDLL) -> None:
    """Let the kernel refuse some system calls; a new thread is allowed, a new process is not."""
    if platform.machine() not in SYSTEM_CALLS:
        return
    machine, refused, clone, clone3 = SYSTEM_CALLS[platform.machine()]
    refuse, refuse_as_unknown = FAIL | errno.EPERM, FAIL | errno.ENOSYS  # glibc then calls clone instead of clone3
    steps = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_IF_EQUAL, 1, 0, machine),
        (RETURN, 0, 0, refuse),
        (LOAD, 0, 0, NUMBER),
        (JUMP_IF_NOT_LESS, 0, 1, OTHER_NUMBERS),
        (RETURN, 0, 0, refuse),
    ]
    for number in refused:
        steps += [(JUMP_IF_EQUAL, 0, 1, number), (RETURN, 0, 0, refuse)]
    steps += [(JUMP_IF_EQUAL, 0, 1, clone3), (RETURN, 0, 0, refuse_as_unknown)]
    steps += [(JUMP_IF_EQUAL, 0, 3, clone), (LOAD, 0, 0, FIRST_ARGUMENT)]
    steps += [(JUMP_IF_ANY_BIT, 1, 0, CLONE_THREAD), (RETURN, 0, 0, refuse), (RETURN, 0, 0, ALLOW)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(program)))
    library.prctl(SET_SECCOMP, FILTER, header, 0, 0)
