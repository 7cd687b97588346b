#!/usr/bin/env python3
"""Opens pages of --report in headless Chromium and uses them as a reader would.

  MSDUMP=PATH tests/report/run.py [NAME...]     all tests, or those whose names contain a word

Without Chromium (Debian: chromium, chromium-driver) or tidy every test is skipped, with a message.
"""

import json
import os
import pathlib
import re
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
            "return [...document.querySelectorAll('.counts li[data-count]')].map(e => [e.dataset.count, Number(e.firstChild.textContent)])"))

    def said(self, *command):
        """What a command prints, without --report."""
        done = subprocess.run([MSDUMP, *command], cwd=self.folder, capture_output=True, text=True, check=False)
        return done.stdout, done.stderr

    def legend(self):
        """The number before each text of the legend."""
        keys = [text.split(" ", 1) for text in self.texts(".legend .key") if text[0].isdigit()]
        return {text: int(number) for number, text in keys}

    def show_all(self):
        self.browser.run("const s = document.getElementById('which'); s.value = 'all'; s.dispatchEvent(new Event('change'))")

    def rows_said(self):
        return self.browser.text("#row-count")

    # ---- tokens

    def tokens(self):
        made = self.folder / "tokenizer.json"
        made.write_text('{"model":{"vocab":{"\u0120the":7,"\u0120":1}},"added_tokens":[{"id":4,"content":"<img src=x onerror=window.hacked=3>"}]}')
        if "tokens" not in self.made:
            script = pages.ROOT / "tests/cli/diff/tokens.bash"
            pages.shell(self.folder, f"source '{script}'; padded train; FAULT='+(p>=3&&id>0?1:0)*0.25' rollout rollout")
        return self.page("tokens", "diff", "rollout", "train", "--tokenizer", made.name)

    def test_the_map_of_tokens_has_a_cell_for_each_token_and_output(self):
        page, json = self.tokens()
        self.open(page)
        first = json["tokens"]["first"]
        self.assertIn(f"sequence {first['sequence']}, position {first['position']} (token 7 \" the\"", self.browser.text("#tokens-title + p"))
        # What the mouse tells over each cell.
        titles = self.browser.run("""
          const canvas = document.querySelector('#tokens canvas'), box = canvas.getBoundingClientRect();
          const [down, across] = canvas.getAttribute('aria-label').match(/\\d+/g).map(Number);
          return [...Array(down).keys()].map(row => [...Array(across).keys()].map(column => {
            canvas.dispatchEvent(new MouseEvent('mousemove', { clientX: box.left + (column + 0.5) / across * box.width,
              clientY: box.top + (row + 0.5) / down * box.height }));
            return canvas.title; }));""")
        outputs = {row["op_name"]: row["tokens"] for row in json["rows"] if row["io"] == "output" and row["tokens"]}
        self.assertEqual(set(outputs), {row[0].split(" ")[0] for row in titles})
        for row in titles:
            self.assertEqual(json["tokens"]["tokens"], len(row))
            errors = [title.rsplit(": ", 1)[1] for title in row]
            known = [float(error) for error in errors if error != "not compared"]
            of_row = outputs[row[0].split(" ")[0]]
            self.assertEqual(of_row["tokens"], len(known))
            self.assertAlmostEqual(of_row["largest_error"], max(known), delta=1e-2 * max(known))
        at = f"sequence {first['sequence']}, position {first['position']}, token 7 \" the\": "
        found = [title for row in titles for title in row if row[0].startswith(first["op_name"]) and at in title]
        self.assertEqual(1, len(found))
        self.assertAlmostEqual(first["error"], float(found[0].rsplit(": ", 1)[1]), delta=1e-2 * first["error"])
        self.assertIsNone(self.browser.run("return window.hacked || null"))

    def test_without_a_script_the_first_token_is_told_and_other_pages_have_no_map(self):
        page, json = self.tokens()
        with browser.Browser(javascript=False) as plain:
            plain.open(page)
            self.assertIn(f"position {json['tokens']['first']['position']} (token 7", plain.run("return document.body.innerText"))
        page, _ = self.diff()
        self.open(page)
        self.assertEqual(0, self.browser.run("return document.querySelectorAll('#tokens').length"))

    # ---- what a page says

    def test_counts_are_those_of_json(self):
        page, json = self.diff()
        self.open(page)
        counts = self.counts()
        for key in ("compared", "same", "close", "differ"):
            self.assertEqual(json["summary"][key], counts.get(key, 0), key)
        self.assertEqual(json["summary"]["unexplained"], counts["cause"] + counts.get("unexplained", 0))
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

    def nan_page(self):
        if "check" not in self.made:
            pages.shell(self.folder, "dumped nan2 Log.Default_Log-op0 1 input.0 0 1; dumped nan2 Log.Default_Log-op0 1 output.0 -inf 0; "
                        "dumped nan2 Mul.Default_Mul-op1 2 input.0 -inf 0; dumped nan2 Mul.Default_Mul-op1 2 output.0 nan 0")
        return self.page("check", "check", "nan2", "--all")

    def test_check(self):
        page, json = self.nan_page()
        self.open(page)
        self.assertEqual(json["summary"]["errors"], self.counts()["errors" if json["summary"]["errors"] > 1 else "error"])
        self.assertIn("Log-op0", self.browser.text("h1"))
        self.assertIn("Log-op0", self.browser.text("#row .name"))
        self.show_all()
        self.assertEqual(f"{len(json['rows'])} of {len(json['rows'])} rows", self.rows_said())
        self.assertEqual({"NaN": 1, "infinite": 2, "finite": 1}, self.legend())

    def began(self):
        """A history of which the gradients of seven layers are eight times larger from step 60 on."""
        history = pages.ROOT / "tests/cli/check/history.bash"
        pages.shell(self.folder, f"source '{history}'; gradients_table jump/rank_0/weight_grad_step0-79.csv 60 8; "
                    "sed -i 's/^-1,70,layers.5.weight,reduced,.*/-1,70,layers.5.weight,reduced,nan,nan,nan,3.0/' jump/rank_0/weight_grad_step0-79.csv; "
                    "gradients_table calm/rank_0/weight_grad_step0-79.csv 80 1")
        return self.page("began", "check", "jump", "--rule", "none", "--rule", "began")

    def test_when_it_began_is_a_panel_with_the_step_marked(self):
        page, json = self.began()
        self.open(page)
        began = json["began"]
        movers = [began, *began["followers"]]
        self.assertIn(f"it began at step {began['step']}: {began['tensor']}", self.browser.text("h1"))
        self.assertEqual([one["tensor"] + " (rank 0)" for one in movers], self.texts(".multiples .name"))
        for one, text in zip(movers, self.texts(".multiples figcaption")):
            self.assertIn(f"step {one['step']}: ", text)
        self.assertEqual(7, len(movers))
        # The mark stands where the line rises: the last point before it is low, the first from it on is high.
        sides = """
          return [...document.querySelectorAll('.multiples svg.' + arguments[0])].map(svg => {
            const x = Number(svg.querySelector('line').getAttribute('x1'));
            const points = [...svg.querySelectorAll('polyline')].flatMap(line => line.getAttribute('points').trim().split(' '))
              .map(pair => pair.split(',').map(Number));
            const low = points.filter(p => p[0] < x - 0.2).map(p => p[1]), high = points.filter(p => p[0] > x - 0.2).map(p => p[1]);
            return [low.length, high.length, Math.min(...low) - Math.max(...high)]; });"""
        for kind, before, after in (("whole", 60, 20), ("near", 20, 20)):
            for one, (low, high, apart) in zip(movers, self.browser.run(sides, kind)):
                broken = one["op_name"] == "layers.5.weight"  # NaN in step 70
                self.assertEqual((before, after - broken), (low, high), one["tensor"])
                self.assertGreater(apart, 40)
        self.assertEqual(1, self.browser.run("return document.querySelectorAll('.multiples svg.whole .nan').length"))
        shown = "return [...document.querySelectorAll('.multiples svg')].filter(e => e.getClientRects().length).map(e => e.classList[0])"
        self.assertEqual(["whole"] * 7, self.browser.run(shown))
        self.browser.click("#near")
        self.assertEqual(["near"] * 7, self.browser.run(shown))

    def test_where_two_histories_leave_each_other_is_the_same_panel(self):
        self.began()
        page, json = self.page("parted", "diff", "jump", "calm")
        self.open(page)
        began = json["began"]
        self.assertEqual(60, began["step"])
        self.assertEqual([one["tensor"] + " (rank 0)" for one in (began, *began["followers"])], self.texts(".multiples .name"))
        self.assertIn("(1 to 8", self.browser.text(".multiples figcaption"))

    def test_the_panel_needs_no_script_and_is_not_there_if_nothing_began(self):
        page, json = self.began()
        with browser.Browser(javascript=False) as plain:
            plain.open(page)
            text = plain.run("return document.querySelector('.began').innerText")
            plain.click("#near")
            shown = plain.run("return [...document.querySelectorAll('.multiples svg.near')].filter(e => e.getClientRects().length).length")
        self.assertEqual(7, shown)
        for one in (json["began"], *json["began"]["followers"]):
            self.assertIn(one["tensor"], text)
        page, _ = self.page("calm", "check", "calm")
        self.open(page)
        self.assertEqual(0, self.browser.run("return document.querySelectorAll('.began').length"))

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

    def test_pills_and_legend_have_the_counts_and_words_of_the_text(self):
        self.net()
        pages.table(self.folder / "far_bad", 40, 1e-3, 20, seed=2)
        pages.table(self.folder / "far_good", 41, 0, seed=2)
        for name, sides in (("diff", ("bad", "good", "--no-recompute")), ("net", ("npu", "cpu")), ("far", ("far_bad", "far_good"))):
            page, _ = self.page(name, "diff", *sides)
            self.open(page)
            _, text = self.said("diff", *sides)
            counts = re.search(r"compared: (.*)", text).group(1)
            of_text = [part.split(" ", 1) for part in re.split(r"; of these |, |; ", counts)]
            pills = [part.split(" ", 1) for part in self.texts(".counts li[data-count]")]
            self.assertEqual({word: int(number) for number, word in of_text},
                             {word: int(number) for number, word in pills if word != "compared"}, name)
            legend, reasons = self.legend(), counts.partition("; of these ")[2]
            self.assertTrue(reasons, name)
            for part in re.sub(r" \([^)]*without a partner\)", "", reasons.split("; ")[0]).split(", "):
                number, word = part.split(" ", 1)
                self.assertEqual(int(number), legend.get(word), f"{name}: {part}")
            self.assertEqual(len(self.page(name, "diff", *sides)[1]["rows"]), sum(legend.values()))

    def test_only_the_culprit_is_outlined_as_one(self):
        page, _ = self.net()
        self.open(page)
        classes = self.browser.run("return [...document.querySelectorAll('.flow .node')].map(e => [Number(e.dataset.hop), e.classList.contains('culprit')])")
        self.assertIn([0, True], classes)
        self.assertTrue(any(hop < 0 for hop, _ in classes))
        self.assertEqual([], [hop for hop, culprit in classes if culprit and hop != 0])

    def test_the_head_says_what_was_compared(self):
        self.net()
        for path in (self.folder / "npu", self.folder / "cpu"):
            for file in path.rglob("*"):
                os.utime(file, (1767322800, 1767322800))
        page, _ = self.page("head", "diff", "npu", "cpu")
        first = page.read_bytes()
        self.page("head2", "diff", "npu", "cpu")
        self.assertEqual(first, (self.folder / "head2.html").read_bytes().replace(b"head2.html", b"head.html"))
        self.open(page)
        self.assertEqual(["candidate", "reference"], self.texts("dl.dumps dt"))
        version = self.said("--version")[0].split()[1]
        self.assertIn(version, self.browser.text(".eyebrow"))
        roles = self.said("diff", "npu", "cpu")[0].splitlines()[0].split(" \u00b7 ")
        for entry, role, name in zip(self.texts("dl.dumps dd"), roles, ("npu", "cpu")):
            self.assertIn(str(self.folder / name), entry)
            self.assertIn("newest file: 2026-01-02 03:00 UTC", entry)
            self.assertIn("MindSpore 2.10.0", entry)
            self.assertIn(role.split(": ")[1].strip(), entry)
        self.assertIn("The dump that is in doubt", self.browser.text("dl.dumps dd"))

    def test_bars_are_linear_and_large_factors_are_words(self):
        data = pages.ROOT / "testdata"
        page, _ = self.page("sample", "diff", str(data / "sample-wrong"), str(data / "sample"))
        self.open(page)
        self.assertEqual(0, self.browser.run("return document.querySelectorAll('.bar').length"))
        self.assertIn("5000 times what is expected", self.browser.text(".gauge"))
        self.assertEqual("logarithmic scale", self.browser.text("#chart-tools span.quiet"))

    def test_the_glossary_is_that_of_the_program(self):
        page, _ = self.diff()
        self.open(page)
        self.assertFalse(self.browser.run("return document.querySelector('details.words').open"))
        words = dict(zip(self.texts(".words dt"), self.texts(".words dd")))
        for name in ("cause", "downstream", "noise", "expected error", "similar operators", "asked", "computed", "handed on", "estimate"):
            self.assertIn(name, words)
        for name, meaning in words.items():
            text = " ".join(self.said("help", *name.split())[0].split())
            self.assertIn(meaning.partition(" Also: ")[0], text)

    def test_a_page_of_checkpoints_speaks_of_parameters(self):
        pages.shell(self.folder, "checkpoint ./a.safetensors fc.weight 4 '1 2 3 4' fc.bias 2 '1 1'; "
                    "checkpoint ./b.safetensors fc.weight 4 '1 2 3 5' fc.bias 2 '1 1'")
        page, _ = self.page("parameters", "diff", "a.safetensors", "b.safetensors")
        self.open(page)
        text, _ = self.said("diff", "a.safetensors", "b.safetensors")
        self.assertEqual("1 of 2 parameters differs: fc.weight (0.16)", self.browser.text("h1"))
        self.assertIn(self.browser.text("h1"), text)
        shown = self.browser.run("return document.body.innerText")
        self.assertNotIn("along the execution", shown)
        self.assertNotIn("no IR was found", shown)
        self.assertIn("Error of each parameter", shown)
        self.assertEqual({"differ": 1, "same or close": 1}, self.legend())
        self.assertIn("fc.weight", self.browser.text("#row .name"))
        self.assertEqual("Parameter", self.browser.text("#row-title"))
        # As of a tensor of an operator: where the error lies, and the commands for the values.
        self.assertIn("Where the error lies", shown)
        self.assertIn("Worst elements", shown)
        self.assertEqual(2, len([line for line in self.texts("#row .command code") if line.endswith("--values")]))

    def test_a_page_of_checkpoints_has_pictures_of_the_twelve_parameters_that_differ_most(self):
        values = " ".join(f"w{i} 2 '1 {i}'" for i in range(14))
        others = " ".join(f"w{i} 2 '1 {i + 2 ** -i}'" for i in range(14))
        pages.shell(self.folder, f"checkpoint ./c.safetensors {others}; checkpoint ./d.safetensors {values}")
        page, _ = self.page("many", "diff", "c.safetensors", "d.safetensors", "--rtol", "0", "--atol", "0")
        self.open(page)
        for name, pictured in (("w0", True), ("w11", True), ("w12", False), ("w13", False)):
            self.browser.run(f"""[...document.querySelectorAll('tr[data-row]')].find(row => row.innerText.split(/\\s/).includes('{name}')).click()""")
            self.assertEqual(name, self.browser.text("#row .name"))
            self.assertEqual(pictured, "Where the error lies" in self.browser.text("#row"))

    def test_a_page_of_two_tensors_has_no_chart(self):
        pages.shell(self.folder, "npy one.npy '<f4' '(2,)' \"$(f32 1 2)\"; npy two.npy '<f4' '(2,)' \"$(f32 1 3)\"")
        page, _ = self.page("pair", "diff", "one.npy", "two.npy")
        self.open(page)
        shown = self.browser.run("return document.body.innerText")
        self.assertNotIn("Error along the execution", shown)
        self.assertNotIn("data flow", shown)
        self.assertEqual("The two tensors differ", self.browser.text("h1"))
        self.assertEqual(2, len([line for line in self.texts("#row .command code") if line.endswith("--values")]))

    def test_the_title_without_a_root_is_the_sentence_of_the_text(self):
        for name, bad, seed in (("open", 1e-3, 2), ("noise", 0, 3)):
            if bad:
                pages.table(self.folder / f"{name}_a", 40, bad, seed=seed)
                pages.table(self.folder / f"{name}_b", 40, 0, seed=seed)
            else:
                network.make(self.folder / f"{name}_a", layers=2, rounding=1e-4, seed=seed)
                network.make(self.folder / f"{name}_b", layers=2, rounding=1e-7)
            page, json = self.page(name, "diff", f"{name}_a", f"{name}_b", "--rtol", "1e-6", "--atol", "0")
            self.assertEqual([], json["first_divergence"])
            self.open(page)
            text, _ = self.said("diff", f"{name}_a", f"{name}_b", "--rtol", "1e-6", "--atol", "0")
            more = "; ".join(self.texts("p.more"))
            title = self.browser.text("h1") + ("; " + more if more else "")
            self.assertIn(title[0].lower() + title[1:], text.splitlines())

    def test_every_tensor_with_values_has_a_command_that_shows_them(self):
        self.net()
        pages.shell(self.folder, "checkpoint ./x.safetensors a.w 2 '1 2' b.w 3 '4 5 6'; checkpoint ./y.safetensors a.v 2 '1 2.5' b.v 3 '4 5 6'")
        for name, sides, dumps in (("net", ("npu", "cpu"), 2), ("names", ("x.safetensors", "y.safetensors"), 2)):
            page, _ = self.page(name, "diff", *sides)
            self.open(page)
            self.run_value_commands(dumps)
        pages.table(self.folder / "steps_a", 3, 1e-3, seed=2)
        page, _ = self.page("tables", "diff", "steps_a", "steps_a")
        self.open(page)
        self.assertEqual(["its differences"], self.texts("#row .command .quiet"))
        page, _ = self.page("values", "check", "npu")
        self.open(page)
        self.run_value_commands(1)

    def run_value_commands(self, dumps):
        self.show_all()
        for row in range(0, self.browser.run("return document.querySelectorAll('tr[data-row]').length"), 7):
            self.browser.run("document.querySelectorAll('tr[data-row]')[arguments[0]].click()", row)
            lines = [line for line in self.texts("#row .command code") if line.endswith("--values")]
            self.assertEqual(dumps, len(lines))
            for line in lines:
                done = subprocess.run(line.replace("msdump", MSDUMP, 1), shell=True, cwd=self.folder, capture_output=True, text=True, check=False)
                self.assertEqual((0, ""), (done.returncode, done.stderr), line)
                self.assertEqual(1, sum(" float32 (" in part for part in done.stdout.splitlines()), done.stdout)

    def test_values_of_one_rank_are_those_of_the_row(self):
        pages.shell(self.folder, "for rank in 0 1; do mkdir -p ranks/rank_$rank/Net/0/0; "
                    "npy ranks/rank_$rank/Net/0/0/Mul.Default_Mul-op1.0.0.1700000000000001.output.0.DefaultFormat.npy '<f4' '(2,)' \"$(f32 1 $rank)\"; done")
        page, _ = self.page("ranks", "diff", "ranks", "--a-rank", "1", "--b-rank", "0")
        self.open(page)
        lines = [line for line in self.texts("#row .command code") if line.endswith("--values")]
        self.assertEqual(2, len(lines))
        for line, rank in zip(lines, (1, 0)):
            self.assertIn(f"--rank {rank} ", line)

    # ---- how it looks

    def test_the_legend_has_the_marks_of_the_chart(self):
        page, _ = self.nan_page()
        self.open(page)
        drawn, icons = self.browser.run("""
          const canvas = document.createElement('canvas').getContext('2d'), places = [...Array(225).keys()];
          const shape = path => places.map(i => Number(canvas.isPointInPath(path, i % 15 / 5 - 1.4, Math.floor(i / 15) / 5 - 1.4))).join('');
          const drawn = {}, icons = {}, fill = CanvasRenderingContext2D.prototype.fill;
          CanvasRenderingContext2D.prototype.fill = function (path) { drawn[shape(path)] = (drawn[shape(path)] || 0) + 1; };
          document.getElementById('theme').click();
          CanvasRenderingContext2D.prototype.fill = fill;
          for (const key of document.querySelectorAll('.legend button.key'))
            icons[shape(new Path2D(key.querySelector('path').getAttribute('d')))] = parseInt(key.textContent);
          return [drawn, icons];""")
        self.assertEqual([1, 2], sorted(drawn.values()))
        self.assertEqual(drawn, {shape: count for shape, count in icons.items() if shape in drawn})
        self.assertIn("evidence", self.texts(".legend .key"))
        self.assertIn("chosen", self.texts(".legend .key"))

    def test_a_label_covers_no_point_and_ticks_do_not_touch(self):
        rows = "".join(f"Log,Default/Log-op{i},0,0,{170000 + i},output,0,8,float32,\"(2)\",{10.0 ** (i % 17 - 13)!r},0,1\n" for i in range(60))
        folder = self.folder / "wide/rank_0/Net/0/0"
        folder.mkdir(parents=True)
        (folder / "statistic.csv").write_text(
            "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,L2Norm Value\n"
            + rows + "Log,Default/Log-op60,0,0,170060,output,0,8,float32,\"(2)\",nan,nan,nan\n")
        page, _ = self.page("wide", "check", "wide")
        for wide in (1280, 400):
            self.browser.command("Emulation.setDeviceMetricsOverride", width=wide, height=900, deviceScaleFactor=1, mobile=False)
            for one in (page, self.net()[0]):
                self.open(one)
                covered = self.browser.run("""
                  const marks = [], labels = [], kind = CanvasRenderingContext2D.prototype, { fill, fillRect, strokeText } = kind;
                  kind.fill = function (path) { if (path) { const at = this.getTransform(); marks.push([at.e, at.f]); } fill.call(this, path); };
                  kind.fillRect = function (x, y, w, h) { if (w === h && w < 9) marks.push([x + w / 2, y + h / 2]); fillRect.call(this, x, y, w, h); };
                  kind.strokeText = function (text, x, y) { labels.push([x, y - 10, x + this.measureText(text).width, y + 3]); };
                  document.getElementById('theme').click();
                  Object.assign(kind, { fill, fillRect, strokeText });
                  return [labels.length, marks.length, labels.flatMap(box => marks.filter(([x, y]) =>
                    x > box[0] && x < box[2] && y > box[1] && y < box[3])).length];""")
                self.assertEqual((1, 0), (covered[0], covered[2]), f"{one.name} at {wide}")
                self.assertGreater(covered[1], 20)
                touching = self.browser.run("""
                  const boxes = [...document.querySelectorAll('.dygraph-axis-label-y')].map(e => {
                    const range = document.createRange(); range.selectNodeContents(e); return range.getBoundingClientRect(); });
                  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b => a.top < b.bottom - 3 && b.top < a.bottom - 3)).length;""")
                self.assertEqual(0, touching, f"{one.name} at {wide}")
        self.browser.command("Emulation.clearDeviceMetricsOverride")

    def test_no_pill_is_wrapped(self):
        page, _ = self.nan_page()
        self.browser.command("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
        self.open(page)
        self.assertIn("infinite", self.texts(".evidence .chip"))
        self.assertEqual([], self.browser.run("""
          return [...document.querySelectorAll('.chip')].filter(e => e.getClientRects().length > 1 ||
            e.offsetHeight > 1.6 * parseFloat(getComputedStyle(e).lineHeight)).map(e => e.textContent)"""))
        self.assertEqual(400, self.browser.run("return document.documentElement.scrollWidth"))
        self.browser.command("Emulation.clearDeviceMetricsOverride")

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
        for opened in (page, self.began()[0]):
            self.open(opened)
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
        for page, _ in (self.diff(), self.page("clean", "diff", "good", "good"), self.began()):
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
