"""Scripts with one changed line, started in processes of their own."""
import contextlib
import os
import sys
import traceback


def changed(text, changes):
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"{old!r} is {text.count(old)} times in the script")
        text = text.replace(old, new)
    return text


def start(script, environment, log=None):
    """Torch and msprobe are loaded once, and every run has them fresh. The log is beside the script, if no other is named."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.environ.update(environment)
        folder = os.path.dirname(script)
        log = open(log or f"{folder}/log", "w", encoding="utf-8")
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        sys.path.insert(0, folder)
        import runpy
        runpy.run_path(script, run_name="__main__")
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def wait(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
