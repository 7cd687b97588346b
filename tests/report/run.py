#!/usr/bin/env python3
"""Opens pages of --report in headless Chromium and uses them as a reader would.

  MSDUMP=PATH tests/report/run.py [NAME...]     all tests, or those whose names contain a word

Without Chromium (Debian: chromium, chromium-driver) or tidy every test is skipped, with a message.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import browser  # noqa: E402
import network  # noqa: E402
import pages  # noqa: E402

MSDUMP = os.environ.get("MSDUMP", "")
READY = "document.body.dataset.ready !== undefined"
# One place of the chart, in pixels of the window: that of a row.
PLACE = """
  const chart = document.getElementById('chart'), box = chart.getBoundingClientRect();
  return [box.left, box.top, box.width, box.height];
"""


class Pages(unittest.TestCase):
    """One browser and one folder for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.browser = browser.Browser()
        pages.shell(cls.folder, "mul_net bad chain 1e-4 5=1.5; mul_net good chain 1e-7")
        cls.made = {}

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.scratch.cleanup()

    def page(self, name, *command, with_json=True):
        if name not in self.made:
            self.made[name] = pages.page(MSDUMP, self.folder, name, command, with_json)
        return self.made[name]

    def diff(self):
        return self.page("diff", "diff", "bad", "good", "--no-recompute", "--worst", "3", "--by-axis")

    def open(self, page):
        self.browser.open(page)
        self.browser.wait(READY)

    def tearDown(self):
        if self.browser.run("return location.protocol") == "file:":
            self.assertEqual([], self.browser.complaints())
            self.assertEqual([], self.browser.requests())

    def texts(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def counts(self):
        return dict(self.browser.run(
            "return [...document.querySelectorAll('.counts li')].map(e => [e.dataset.count, Number(e.firstChild.textContent)])"))

    def show_all(self):
        self.browser.run("const s = document.getElementById('which'); s.value = 'all'; s.dispatchEvent(new Event('change'))")

    def rows_said(self):
        return self.browser.text("#row-count")

    # ---- what a page says

    def test_counts_are_those_of_json(self):
        page, json = self.diff()
        self.open(page)
        counts = self.counts()
        for key in ("compared", "same", "close", "differ", "unexplained"):
            self.assertEqual(json["summary"][key], counts.get(key, 0), key)
        self.show_all()
        self.assertEqual(f"{len(json['rows'])} of {len(json['rows'])} rows", self.rows_said())

    def test_what_a_baseline_accepts_is_not_a_difference(self):
        self.diff()
        baseline = self.folder / "accepted.json"
        self.page("writing", "diff", "bad", "good", "--write-baseline", baseline.name)
        accepted = json.loads(baseline.read_text())
        accepted["accepted"].pop()
        baseline.write_text(json.dumps(accepted))
        page, document = self.page("accepting", "diff", "bad", "good", "--baseline", baseline.name)
        self.assertGreater(document["summary"]["accepted"], 0)
        self.open(page)
        self.assertEqual(f"1 of {len(document['rows'])} rows", self.rows_said())

    def test_the_answer_names_the_operator_and_its_line(self):
        page, json = self.diff()
        self.open(page)
        root = json["first_divergence"][0]
        heading = self.browser.text("h1")
        self.assertIn(root["op_name"].rsplit("/", 1)[1], heading)
        self.assertIn(f"net.py:{root['source']['line']}", heading)
        self.assertIn(root["op_name"], self.browser.text("#row .name"))

    def test_the_page_works_without_javascript(self):
        page, json = self.diff()
        with browser.Browser(javascript=False) as plain:
            plain.open(page)
            text = plain.run("return document.body.innerText")
        self.assertIn(json["first_divergence"][0]["op_name"], text)
        self.assertIn("JavaScript is off", text)
        self.assertIn("It went wrong first in", text)
        self.assertIn(json["rows"][-1]["op_name"], text)

    def test_a_clean_pair_says_so(self):
        page, _ = self.page("clean", "diff", "good", "good")
        self.open(page)
        self.assertEqual("Both sides are the same", self.browser.text("h1"))
        self.assertEqual("good", self.browser.run("return document.querySelector('h1').className"))
        self.assertEqual(0, self.browser.run("return document.querySelectorAll('.cause').length"))
        self.assertRegex(self.rows_said(), r"^24 of 24 rows$")

    def test_the_sample_of_the_repository(self):
        data = pages.ROOT / "testdata"
        page, json = self.page("sample", "diff", str(data / "sample-wrong"), str(data / "sample"))
        self.open(page)
        self.assertEqual(json["summary"]["compared"], self.counts()["compared"])
        self.assertEqual(1, self.browser.run("return document.querySelectorAll('canvas.map').length"))

    def net(self):
        if "net" not in self.made:
            network.make(self.folder / "npu", layers=6, wrong=4, seed=2)
            network.make(self.folder / "cpu", layers=6, rounding=1e-7)
        return self.page("net", "diff", "npu", "cpu")

    def test_a_network_with_one_wrong_softmax(self):
        page, json = self.net()
        self.open(page)
        root = json["first_divergence"][0]
        self.assertEqual("Softmax", root["op_type"])
        self.assertIn(f"{root['op_name'].rsplit('/', 1)[1]}, net.py:45", self.browser.text("h1"))
        self.assertEqual(6, self.browser.run("return document.querySelectorAll('.flow .node').length"))
        counts = self.counts()
        for key in ("noise", "downstream"):
            self.assertEqual(json["summary"]["explained"][key], counts[key])
        # The lost rows are the dark corner of the map; the worst element is that of --json.
        worst = next(row["worst"] for row in json["rows"] if row["op_name"] == root["op_name"] and row["io"] == "output")
        self.assertEqual(str(worst["index"]), "[" + self.browser.text("table.worst td").strip("[]") + "]")

    def test_check(self):
        pages.shell(self.folder, "dumped nan2 Log.Default_Log-op0 1 input.0 0 1; dumped nan2 Log.Default_Log-op0 1 output.0 -inf 0; "
                    "dumped nan2 Mul.Default_Mul-op1 2 input.0 -inf 0; dumped nan2 Mul.Default_Mul-op1 2 output.0 nan 0")
        page, json = self.page("check", "check", "nan2", "--all")
        self.open(page)
        self.assertEqual(json["summary"]["errors"], self.counts()["errors" if json["summary"]["errors"] > 1 else "error"])
        self.assertIn("Log-op0", self.browser.text("h1"))
        self.assertIn("Log-op0", self.browser.text("#row .name"))
        self.show_all()
        self.assertEqual(f"{len(json['rows'])} of {len(json['rows'])} rows", self.rows_said())
        names = self.texts(".legend .key")
        self.assertIn("NaN 1", names)
        self.assertIn("infinite 2", names)

    def test_names_that_try_to_be_markup_are_text(self):
        pages.hostile(self.folder / "hostile")
        page, json = self.page("hostile_page", "diff", "hostile/bad", "hostile/good")
        self.open(page)
        self.assertIsNone(self.browser.run("return window.hacked || null"))
        self.assertEqual(0, self.browser.run("return document.querySelectorAll('img').length"))
        self.assertIn(pages.HOSTILE, self.texts(".grid td"))
        for row in range(len(json["rows"])):
            self.browser.run("document.querySelectorAll('tr[data-row]')[arguments[0]].click()", row)
        self.assertIsNone(self.browser.run("return window.hacked || null"))

    def test_a_page_without_rows(self):
        page, _ = self.page("none", "diff", "bad", "good", "--op", "nothing")
        self.open(page)
        self.assertIn("Nothing was compared", self.browser.text("h1"))
        self.assertEqual("0 of 0 rows", self.rows_said())

    # ---- what a reader does

    def test_the_filter_keeps_what_it_says(self):
        page, json = self.diff()
        self.open(page)
        self.show_all()
        rows = json["rows"]
        for text, count in (("mul-op3", sum("Mul-op3" in row["op_name"] for row in rows)),
                            ("verdict:differ", sum(row["verdict"] == "differ" for row in rows)),
                            ("error>1e-3", sum((row["metrics"]["relative_l2"] or 0) > 1e-3 for row in rows)),
                            ("verdict:differ tensor:input", sum(row["verdict"] == "differ" and row["io"] == "input" for row in rows)),
                            ("no such row", 0)):
            self.browser.clear("#filter")
            self.browser.type("#filter", text)
            self.browser.wait(f"document.getElementById('row-count').textContent === '{count} of {len(rows)} rows'", 5)

    def test_a_click_on_a_head_sorts(self):
        page, _ = self.diff()
        self.open(page)
        self.show_all()
        shown = "return [...document.querySelectorAll('tr[data-row] td')].filter(td => td.cellIndex === arguments[0]).map(td => td.textContent)"
        at = self.texts(".grid th").index("relative error")
        self.browser.click(".grid th[data-key='error'] button")
        down = [float(text) for text in self.browser.run(shown, at) if text]
        self.assertEqual(sorted(down, reverse=True), down)
        self.browser.click(".grid th[data-key='error'] button")
        up = [float(text) for text in self.browser.run(shown, at) if text]
        self.assertEqual(sorted(up), up)
        self.assertGreater(len(set(up)), 3)
        self.assertEqual("ascending", self.browser.run("return document.querySelector('th[data-key=error]').ariaSort"))

    def test_a_row_shows_its_tensor_and_what_to_type(self):
        page, json = self.diff()
        self.open(page)
        self.browser.clear("#filter")
        self.browser.type("#filter", "mul-op7 tensor:output")
        self.browser.wait("document.querySelectorAll('tr[data-row]').length === 1", 5)
        self.browser.click("tr[data-row] td")
        self.assertIn("Mul-op7", self.browser.text("#row .name"))
        line = self.browser.text("#row .command code")
        self.assertEqual("msdump diff bad good --op Default/Mul-op7 --io output --slot 0 --worst 20 --by-axis", line)
        done = subprocess.run(line.replace("msdump", MSDUMP, 1), shell=True, cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(1, done.returncode, done.stderr)

    def test_a_click_on_a_point_shows_its_row(self):
        page, _ = self.diff()
        self.open(page)
        self.browser.run("document.getElementById('chart').scrollIntoView({block: 'center'})")
        before = self.browser.text("#row .name") + self.browser.text("#row-title")
        left, top, wide, high = self.browser.run(PLACE)
        # The last point: the output of the last operator; its height is not known, so try along the column.
        for step in range(8, int(high) - 30, 12):
            self.browser.drag((left + wide - 12, top + step), (left + wide - 12, top + step))
            if "Mul-op11" in self.browser.text("#row .name"):
                break
        self.assertIn("Mul-op11", self.browser.text("#row .name"))
        self.assertNotEqual(before, self.browser.text("#row .name") + self.browser.text("#row-title"))

    def test_the_chart_zooms_by_drag_buttons_and_keys(self):
        page, _ = self.diff()
        self.open(page)
        labels = lambda: self.texts(".dygraph-axis-label-x")  # noqa: E731
        whole = labels()
        self.browser.run("document.getElementById('chart').scrollIntoView({block: 'center'})")
        left, top, wide, high = self.browser.run(PLACE)
        self.browser.drag((left + wide * 0.4, top + high / 2), (left + wide * 0.6, top + high / 2))
        self.browser.wait(f"[...document.querySelectorAll('.dygraph-axis-label-x')].map(e => e.textContent).join() !== '{','.join(whole)}'", 5)
        self.browser.click("#whole")
        self.browser.wait(f"[...document.querySelectorAll('.dygraph-axis-label-x')].map(e => e.textContent).join() === '{','.join(whole)}'", 5)
        self.browser.run("document.getElementById('chart').focus()")
        self.browser.press("+")
        self.assertNotEqual(whole, labels())
        name = self.browser.text("#row .name") + self.browser.text("#row-title")
        self.browser.press("Right")
        self.assertNotEqual(name, self.browser.text("#row .name") + self.browser.text("#row-title"))

    def test_the_neighbourhood_can_be_walked_by_click_and_by_key(self):
        page, _ = self.diff()
        self.open(page)
        self.assertEqual(5, self.browser.run("return document.querySelectorAll('.flow .node').length"))
        center = self.browser.run("return document.querySelector('.flow .center title').textContent")
        self.assertIn("Mul-op5", center)
        self.browser.run("document.querySelector('.flow .center').focus()")
        self.browser.press("Right")
        self.browser.press("Enter")
        self.assertIn("Mul-op6", self.browser.text("#row .name"))
        self.assertIn("Mul-op6", self.browser.run("return document.activeElement.querySelector('title').textContent"))
        self.browser.run("document.querySelector('.flow [data-hop=\"-1\"]').dispatchEvent(new MouseEvent('click'))")
        self.assertIn("Mul-op5", self.browser.text("#row .name"))

    def test_boxes_of_the_neighbourhood_do_not_overlap(self):
        page, _ = self.diff()
        self.open(page)
        overlaps = self.browser.run("""
          const boxes = [...document.querySelectorAll('.flow .node rect')].map(e => e.getBoundingClientRect());
          return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b =>
            a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;""")
        self.assertEqual(0, overlaps)

    def test_ranks_and_steps_can_be_chosen(self):
        pages.table(self.folder / "steps_bad", 40, 1e-3, 20, seed=2, steps=3)
        pages.table(self.folder / "steps_good", 40, 0, seed=2, steps=3)
        page, json = self.page("steps", "diff", "steps_bad", "steps_good")
        self.open(page)
        self.show_all()
        self.assertEqual("120 of 120 rows", self.rows_said())
        self.assertEqual(1, self.browser.run("return document.querySelectorAll('svg.steps').length"))
        self.browser.run("const s = document.querySelectorAll('#chart-tools select')[1]; s.value = '1'; s.dispatchEvent(new Event('change'))")
        self.assertEqual("40 of 120 rows", self.rows_said())
        self.assertIn("Chart: 40 tensors", self.browser.run("return document.getElementById('chart').ariaLabel"))

    def test_colors_follow_the_system_and_the_choice(self):
        page, _ = self.diff()
        self.open(page)
        paper = lambda: self.browser.run("return getComputedStyle(document.body).backgroundColor")  # noqa: E731
        light = paper()
        self.browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        dark = paper()
        self.assertNotEqual(light, dark)
        self.browser.click("#theme")
        self.assertEqual(light, paper())
        self.browser.click("#theme")
        self.assertEqual(dark, paper())
        self.browser.command("Emulation.setEmulatedMedia", features=[])

    def test_texts_have_contrast_in_both_themes(self):
        page, _ = self.diff()
        self.open(page)
        for theme in ("light", "dark"):
            self.browser.run("document.documentElement.dataset.theme = arguments[0]", theme)
            self.assertEqual([], self.browser.run(CONTRAST), theme)

    def test_a_narrow_window_needs_no_scrolling_to_the_side(self):
        page, _ = self.diff()
        self.browser.command("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=False)
        self.open(page)
        self.assertEqual(390, self.browser.run("return document.documentElement.scrollWidth"))
        self.browser.command("Emulation.clearDeviceMetricsOverride")

    def test_print_has_the_first_rows(self):
        page, _ = self.diff()
        self.open(page)
        self.browser.run("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(0, self.browser.run("return document.querySelectorAll('tr.space').length"))
        self.browser.run("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(2, self.browser.run("return document.querySelectorAll('tr.space').length"))

    def test_a_hundred_thousand_rows_stay_few_elements(self):
        self.open(self.large(100_000))
        self.show_all()
        self.assertEqual("100000 of 100000 rows", self.rows_said())
        self.assertLess(self.browser.run("return document.querySelectorAll('tr[data-row]').length"), 100)
        self.browser.run("document.getElementById('table').scrollTop = 1e9")
        self.browser.wait("document.querySelector('tr[aria-rowindex=\"100001\"]') !== null", 5)
        self.browser.type("#filter", "op99999")
        self.browser.wait("document.getElementById('row-count').textContent === '1 of 100000 rows'", 5)

    def large(self, rows):
        """A run of which the rows from 60 % on are wrong."""
        pages.table(self.folder / f"bad{rows}", rows, 1e-3, rows * 6 // 10)
        pages.table(self.folder / f"good{rows}", rows, 0)
        return self.page(f"large{rows}", "diff", f"bad{rows}", f"good{rows}", with_json=False)[0]

    def test_of_more_rows_the_page_has_a_sample_and_says_so(self):
        page = self.large(120_000)
        self.assertLess(page.stat().st_size, 20e6)
        self.open(page)
        self.show_all()
        shown = int(self.rows_said().split()[0])
        self.assertEqual(f"{shown} of 120000 rows", self.rows_said())
        self.assertTrue(48_000 < shown <= 100_000, shown)
        self.assertIn(f"The page has {shown} of 120000 rows", " ".join(self.texts("p.note")))
        self.assertIn("MatMul-op72000", self.browser.text("h1"))
        self.assertIn("MatMul-op72000", self.browser.text("#row .name"))
        self.assertEqual(120_000, self.counts()["compared"])

    def test_pages_are_valid_html(self):
        if shutil.which("tidy") is None:
            self.skipTest("tidy is not installed")
        for page, _ in (self.diff(), self.page("clean", "diff", "good", "good")):
            done = subprocess.run(["tidy", "-quiet", "-errors", "-utf8", str(page)], capture_output=True, text=True, check=False)
            self.assertEqual("", done.stderr[:2000])


# Texts whose color and background have less contrast than WCAG's AA asks of small text.
CONTRAST = """
  const numbers = color => color.match(/[\\d.]+/g).map(Number);
  const light = color => { const [r, g, b] = numbers(color).slice(0, 3).map(v => {
    v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = element => { for (let e = element; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor; if (numbers(color)[3] !== 0) return color; } return 'rgb(255,255,255)'; };
  const bad = new Set();
  for (const element of document.querySelectorAll('body *')) {
    if (!element.textContent.trim() || element.closest('svg, script, noscript, [hidden], .skip') || element.children.length > 0) continue;
    const style = getComputedStyle(element);
    const [x, y] = [light(style.color), light(back(element))].sort((a, b) => b - a);
    if ((x + 0.05) / (y + 0.05) < 4.5) bad.add(`${element.tagName}.${element.className} ${style.color} on ${back(element)}`);
  }
  return [...bad];
"""


def main():
    absent = browser.missing()
    if absent:
        count = sum(name.startswith("test_") for name in dir(Pages))
        print(f"skipped: no {' and no '.join(absent)}; scripts/setup --report installs them")
        print(f"0 passed, 0 failed, {count} skipped")
        return 0
    if not MSDUMP:
        sys.exit("set MSDUMP to the program to test")
    words = sys.argv[1:]
    names = [name for name in unittest.TestLoader().getTestCaseNames(Pages) if not words or any(word in name for word in words)]
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(map(Pages, names)))
    bad, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
