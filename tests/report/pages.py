"""The dumps whose pages are tested, each made in a folder of its own."""

import json
import pathlib
import random
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>'&amp;{{data}}"


def shell(folder, script):
    """Runs a script that knows the dumps of tests/cli/prelude.bash."""
    prelude = ROOT / "tests/cli/prelude.bash"
    subprocess.run(["bash", "-euc", f"source '{prelude}'\n{script}"], cwd=folder, check=True)


def table(path, rows, scale, wrong_from=None, seed=1, steps=1):
    """A statistic.csv of `rows` tensors in each step; from one of them on, values are off."""
    rng = random.Random(seed)
    for step in range(steps):
        folder = path / f"rank_0/Net/0/{step}"
        folder.mkdir(parents=True)
        with open(folder / "statistic.csv", "w") as out:
            out.write("Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,L2Norm Value\n")
            for i in range(rows):
                value = 1 + i % 97
                error = scale * 10 ** rng.uniform(-3, 0)
                if wrong_from is not None and i >= wrong_from:
                    error = rng.uniform(0.01, 0.5)
                value *= 1 + error
                out.write(f"MatMul,Default/layers-{i * 24 // rows}/attention/MatMul-op{i},0,0,{170000 + i},output,0,8,float32,"
                          f"\"(2)\",{value:.7g},{-value:.7g},{2 * value:.7g}\n")


def hostile(folder):
    for side, value in (("bad", 3), ("good", 2)):
        path = folder / side / "rank_0/Net/0/0"
        path.mkdir(parents=True)
        with open(path / "statistic.csv", "w") as out:
            out.write("Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,L2Norm Value\n")
            for i, name in enumerate((HOSTILE, "a\u202eb\u2028c\u0007d", "=cmd()", "'; rm -rf ~ #", "x" * 3000)):
                out.write(f"{name},{name},0,0,{17000 + i},output,0,8,float32,\"(2)\",{value},-1,2\n")


def page(msdump, folder, name, command, with_json=True):
    """Makes a page; with it the document of --json, if wanted."""
    path = folder / f"{name}.html"
    form = ["--json"] if with_json else []
    done = subprocess.run([msdump, *command, *form, "--report", path.name], cwd=folder, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    return path, json.loads(done.stdout) if with_json else None
