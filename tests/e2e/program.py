"""Asks msdump, reads arrays, and keeps the score of the checks: every check has a name and figures, and is printed."""
import ast
import json
import os
import struct
import subprocess

import numpy as np


class Program:
    """The msdump to be checked, run in the folder of the dump."""

    def __init__(self, path, folder):
        self.path = path
        self.folder = folder

    def run(self, *arguments, expect=(0,)):
        """What it prints on stdout; an exit code other than the expected ones ends the test."""
        done = subprocess.run(
            [self.path, *arguments], cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode not in expect:
            raise SystemExit(
                f"msdump {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}"
            )
        return done.stdout

    def report(self, *arguments, expect=(0,)):
        return json.loads(self.run(*arguments, "--json", expect=expect))

    def rows(self, *arguments, expect=(0,)):
        return self.report(*arguments, expect=expect)["rows"]

    def commands(self):
        return {line.split()[0] for line in self.run("help").splitlines() if line.startswith("  ")}


class Checks:
    def __init__(self):
        self.failed = 0
        self.passed = 0

    def check(self, name, holds, figures):
        print(f"{'ok    ' if holds else 'FAILED'} {name}: {figures}")
        if holds:
            self.passed += 1
        else:
            self.failed += 1

    def equal(self, name, found, expected):
        self.check(name, found == expected, f"{found}" if found == expected else f"{found}, expected {expected}")

    def close(self, name, found, expected, tolerance):
        error = difference(found, expected)
        self.check(name, error <= tolerance, f"difference {error:.1e}, at most {tolerance:.0e}")


def load(path):
    """np.load, and bfloat16 as MindSpore writes it: bytes of a type '<E2' that numpy does not have. Gives float32."""
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10:start].decode("latin-1"))
    if header["descr"] != "<E2":
        return np.load(path)
    bits = np.frombuffer(data, "<u2", offset=start).astype(np.uint32) << 16
    return bits.view(np.float32).reshape(header["shape"])


def arrays_below(folder):
    """All .npy files: path from there to array."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            if name.endswith(".npy"):
                found[os.path.relpath(path, folder)] = load(path)
    return found


def difference(found, expected):
    """The largest one of two arrays, in units of the largest expected value; infinite for other shapes."""
    if np.shape(found) != np.shape(expected):
        return np.inf
    found = np.asarray(found, np.float64)
    scale = np.abs(expected).max(initial=0)
    error = np.abs(found - expected).max(initial=0)
    return float(error / scale) if scale > 0 else float(error)
