"""wheel.py STAGED VERSION TAGS OUT: the tree of an installed msdump (STAGED/usr) as a wheel in the folder OUT.

TAGS: platform tags with dots between, as in the file's name. pip puts the program into bin/ and what is below usr/share
into share/ of the environment. SOURCE_DATE_EPOCH is the time of every file. Only Python's own modules are used.
"""
import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

SUMMARY = "Finds the operator, and the line of your script, that went wrong first in a MindSpore / Ascend tensor dump"


def metadata(version, readme):
    lines = [
        "Metadata-Version: 2.1",
        "Name: msdump",
        f"Version: {version}",
        f"Summary: {SUMMARY}",
        "License: Apache-2.0",
        "Requires-Python: >=3.6",
        "Classifier: Environment :: Console",
        "Classifier: License :: OSI Approved :: Apache Software License",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + readme


def contents(usr, version, tags):
    """Name in the wheel -> (bytes, mode), RECORD not yet among them."""
    info, data = f"msdump-{version}.dist-info", f"msdump-{version}.data"
    documents = usr / "share/doc/msdump"
    files = {f"{data}/scripts/msdump": ((usr / "bin/msdump").read_bytes(), 0o755)}
    for path in sorted((usr / "share").rglob("*")):
        if path.is_file() and documents not in path.parents:
            files[f"{data}/data/{path.relative_to(usr)}"] = (path.read_bytes(), 0o644)
    readme = (documents / "README.md").read_text(encoding="utf-8")
    wheel = "Wheel-Version: 1.0\nGenerator: msdump\nRoot-Is-Purelib: false\n"
    wheel += "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    files[f"{info}/METADATA"] = (metadata(version, readme).encode(), 0o644)
    files[f"{info}/WHEEL"] = (wheel.encode(), 0o644)
    for path in sorted([documents / "LICENSE", *(documents / "licenses").iterdir()]):
        files[f"{info}/licenses/{path.relative_to(documents)}"] = (path.read_bytes(), 0o644)
    return files


def record(files, name):
    lines = []
    for path, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    return "".join(lines) + f"{name},,\n"


def main():
    staged, version, tags, out = sys.argv[1:]
    files = contents(pathlib.Path(staged) / "usr", version, tags)
    name = f"msdump-{version}.dist-info/RECORD"
    files[name] = (record(files, name).encode(), 0o644)
    # A zip has no time before 1980.
    moment = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
    wheel = pathlib.Path(out) / f"msdump-{version}-py3-none-{tags}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, (content, mode) in files.items():
            entry = zipfile.ZipInfo(path, moment)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


if __name__ == "__main__":
    main()
