"""Python programs run as processes of their own, for what only a process can suffer."""

import os
import resource
import signal
import subprocess
import sys
import time

PRELUDE = """
import os, signal, sys, warnings
import numpy as np
import composit
import composit.numpy as cnp

def ready():
    print("ready", flush=True)

def peak():
    # bytes; not ru_maxrss, which begins with that of the process that started this one
    with open("/proc/self/status") as status:
        return 1024 * int(next(line for line in status if line.startswith("VmHWM")).split()[1])
"""


# As part of a program: gives up what root may do.
NOBODY = "if os.geteuid() == 0: os.seteuid(65534)"


def start(program, cache=None, **environment):
    """Starts a program behind PRELUDE, with `cache` as its cache folder."""
    variables = {**os.environ, **environment}
    if cache is not None:
        variables["COMPOSIT_CACHE"] = str(cache)
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + program],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process, timeout=300):
    """(exit status, standard output, standard error) of a process."""
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def run(program, cache=None, **environment):
    """Runs a program to its end."""
    return finish(start(program, cache, **environment))


def wait_until_ready(process):
    """Until the program calls ready()."""
    line = process.stdout.readline()
    assert line == "ready\n", line + process.communicate()[1]


def interrupt(process, after=0.3):
    """Presses Ctrl-C `after` seconds after the program is ready. Returns the seconds that it then
    still computed, and finish's results. (Seconds of computing, not of the clock: other tests may
    have the cores.)"""
    wait_until_ready(process)
    time.sleep(after)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process.send_signal(signal.SIGINT)
    with open(f"/proc/{process.pid}/stat") as file:
        # Its own, then those of the compilers that it waited for.
        times = file.read().rsplit(")", 1)[1].split()[11:15]
    computed = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    results = finish(process)
    total = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = total.ru_utime + total.ru_stime - before.ru_utime - before.ru_stime
    return spent - computed, results


def compiler_script(path, text):
    """An executable that answers --version and otherwise does as `text` says; for CXX."""
    path.write_text(f'#!/bin/sh\ncase "$1" in --version) echo 1; exit;; esac\n{text}\n')
    path.chmod(0o700)
    return str(path)


def exists(pid):
    """Whether a process runs (one that ended and was not waited for does not)."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def temporaries(folder):
    """The files and folders below `folder` with temporary names."""
    return [path for path in folder.rglob("*") if ".tmp-" in path.name]
