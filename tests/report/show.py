#!/usr/bin/env python3
"""What is to be looked at and not asserted.

  MSDUMP=PATH tests/report/show.py times       how long a page of 100 000 rows takes: to make it, to its first paint
  MSDUMP=PATH tests/report/show.py pictures    writes the pictures of docs/ (needs Debian's pngquant)
"""

import base64
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import browser  # noqa: E402
import network  # noqa: E402
import pages  # noqa: E402

MSDUMP = os.environ.get("MSDUMP", "")
READY = "document.body.dataset.ready !== undefined"


def print_times():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        pages.table(folder / "bad", 100_000, 1e-3, 60_000)
        pages.table(folder / "good", 100_000, 0)
        for more in ([], ["--report", "page.html"]):
            started = time.monotonic()
            subprocess.run([MSDUMP, "diff", "bad", "good", *more], cwd=folder, capture_output=True, check=False)
            print(f"msdump diff {' '.join(more):22} {time.monotonic() - started:5.2f} s")
        print(f"{(folder / 'page.html').stat().st_size / 1e6:.1f} MB")
        with browser.Browser() as window:
            for _ in range(3):
                window.open(folder / "page.html")
                ready = window.wait(f"{READY} && performance.now()")
                paint = window.run("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
                print(f"first paint after {paint:.0f} ms, all there after at most {ready:.0f} ms")


PICTURES = {"light": (1240, 1500, 0.8), "dark": (1240, 1500, 0.8), "narrow": (420, 1830, 0.8)}


def write_pictures():
    with tempfile.TemporaryDirectory() as scratch, browser.Browser() as window:
        folder = pathlib.Path(scratch)
        network.make(folder / "npu", wrong=4, seed=2)
        network.make(folder / "cpu", rounding=1e-7)
        for file in folder.rglob("*"):
            os.utime(file, (1767322800, 1767322800))  # pictures of two days are equal
        page, _ = pages.page(MSDUMP, folder, "page", ["diff", "npu", "cpu"])
        page.write_text(page.read_text().replace(str(folder), "/home/user/train"))
        for name, (width, height, scale) in PICTURES.items():
            theme = "dark" if name == "dark" else "light"
            window.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            window.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
            window.open(page)
            window.wait(READY)
            clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
            image = window.command("Page.captureScreenshot", clip=clip)["data"]
            target = pages.ROOT / f"docs/report-{name}.png"
            subprocess.run(["pngquant", "64", "--strip", "--force", "--output", target, "-"], check=True,
                           input=base64.b64decode(image))
            print(target, target.stat().st_size)


if __name__ == "__main__":
    shown = {"times": print_times, "pictures": write_pictures}.get(" ".join(sys.argv[1:]))
    if shown is None or not MSDUMP:
        sys.exit(__doc__)
    shown()
