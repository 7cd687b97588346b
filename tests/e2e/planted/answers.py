"""msdump's answers, and what is the same in them however it is spelled."""
import json
import os
import re
import subprocess


def run(*command):
    """Exit code, the JSON document if there is one, the last line on stderr."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    complaint = (done.stderr.strip().splitlines() or ["no JSON"])[-1]
    try:
        return done.returncode, json.loads(done.stdout), complaint
    except json.JSONDecodeError:
        return done.returncode, None, complaint


def plain(name):
    """As in file names, and a parameter without the number of its node, or of its output where no graph names it."""
    return re.sub(r"^para\d+_|:\d+$", "", (name or "").replace("/", "_").replace(".", "_"))


def fits(name, answer):
    """The names of both sides, and those of the IR, are right: which one is printed is msdump's choice."""
    return plain(name) in {plain(known) for known in answer["names"]}


def lines_of(*places):
    return {f"{os.path.basename(place['file'])}:{place['line']}" for place in places if place}
