"""What msdump says about the dump that alexnet.py made, against what numpy and the text of alexnet.py say.

check.py MSDUMP FOLDER SCRIPT   FOLDER: dump/, save_graphs/ and known.npz of one training step of SCRIPT.
The exit code is 1 when a check fails.
"""
import csv
import io
import os
import sys

import numpy as np

import layers
from program import Checks, Program, arrays_below, difference, load

RECOMPUTED = 2e-6  # float32, from the dumped inputs of the operator
FORWARD = 1e-4  # float32, through the whole network before it
UPDATE = 1e-4  # (before - after) / learning rate: what a subtraction leaves of a float32
FOUND_OR_NOT = (0, 1)  # exit codes of find-op; what it found is checked
STATISTICS = 1e-5  # statistic.csv has six digits
COLUMNS = {
    "Max Value": np.max,
    "Min Value": np.min,
    "Avg Value": np.mean,
    "L2Norm Value": lambda array: np.sqrt((array**2).sum()),
}


class Run:
    """The dump and the script, and what is known of them without msdump."""

    def __init__(self, program, script):
        self.program = program
        self.script = script
        self.dump = os.path.join(program.folder, "dump")
        with open(script, encoding="utf-8") as file:
            self.lines = file.read().splitlines()
        known = np.load(os.path.join(program.folder, "known.npz"))
        self.known = {name: known[name] for name in known.files}
        self.before = {name[7:]: value for name, value in self.known.items() if name.startswith("before.")}
        self.values = layers.forward(self.known["image"], self.before)

    def lines_of(self, code):
        """The numbers of the lines that hold this text: the script's own, not msdump's."""
        numbers = [number for number, line in enumerate(self.lines, 1) if code in line]
        if not numbers:
            raise SystemExit(f"{self.script} has no line with {code}")
        return numbers

    def find(self, code, place=-1):
        """The operators of a line by relation; the last of the lines that hold this text, unless told otherwise."""
        line = f"{os.path.basename(self.script)}:{self.lines_of(code)[place]}"
        by_relation = {}
        for row in self.program.rows("find-op", "--line", line, "-d", "dump", expect=FOUND_OR_NOT):
            by_relation.setdefault(row["relation"], []).append(row)
        return line, by_relation

    def load(self, row, direction, slot=0):
        files = [file["path"] for file in row["files"] if (file["io"], file["slot"]) == (direction, slot)]
        if len(files) != 1:
            raise SystemExit(f"{row['op_name']}: {len(files)} files of {direction} {slot}, expected 1")
        return load(os.path.join(self.dump, files[0]))


def types_of(rows):
    return sorted(row["op_type"] for row in rows)


def check_tensors(checks, run):
    """ls, convert and stats: the same files as numpy reads."""
    arrays = arrays_below(run.dump)
    rows = {row["path"]: row for row in run.program.rows("ls", "-d", "dump")}
    checks.check("ls names every .npy file", rows.keys() == arrays.keys(), f"{len(rows)} of {len(arrays)}")
    agreeing = 0
    halves = {path for path in arrays if ".BFloat16." in path}
    for path, array in arrays.items():
        row = rows.get(path, {})
        dtype, size = ("bfloat16", array.nbytes // 2) if path in halves else (array.dtype.name, array.nbytes)
        agreeing += (row.get("dtype"), row.get("shape"), row.get("bytes")) == (dtype, list(array.shape), size)
    checks.equal("ls: dtypes, shapes and sizes of numpy", agreeing, len(arrays))
    check_convert(checks, run, arrays, halves)
    check_statistics(checks, run, arrays)


def check_convert(checks, run, arrays, halves):
    """Only bfloat16 needs converting here: all else is .npy in host format already."""
    rows = run.program.rows("convert", "-d", "dump", "-out", "npy", "-f", "NCHW")
    written = {row["input"]: row["output"] for row in rows if row["status"] == "written"}
    skipped = sum(row["status"] == "skipped" for row in rows)
    checks.check("convert writes what numpy cannot read", len(halves) > 0 and written.keys() == halves,
                 f"{len(written)} of bfloat16, {len(halves)} expected")
    checks.equal("convert leaves the other .npy files alone", skipped, len(arrays) - len(halves))
    folder = os.path.join(run.program.folder, "npy")
    wrong = [path for path, output in written.items()
             if not np.array_equal(np.load(os.path.join(folder, output)), arrays[path])]
    checks.check("convert: float32 of the same values", not wrong, f"{len(wrong)} differ {wrong[:1]}")


def check_statistics(checks, run, arrays):
    text = run.program.run("stats", "-d", "dump", "--csv", "--dialect", "2.10.0", "--columns", "max,min,avg,l2norm")
    rows = list(csv.DictReader(io.StringIO(text)))
    checks.equal("stats --csv has a row for every .npy file", len(rows), len(arrays))
    by_key = {}
    for path, array in arrays.items():
        fields = os.path.basename(path).split(".")  # names have no dots in them from MindSpore 2.3 on
        by_key[fields[0], fields[1], fields[4], fields[5], fields[6]] = array.astype(np.float64)
    worst = dict.fromkeys(COLUMNS, 0.0)
    for row in rows:
        array = by_key[row["Op Type"], row["Op Name"], row["Timestamp"], row["IO"], row["Slot"]]
        scale = max(np.abs(array).mean(), 1e-30)
        for column, function in COLUMNS.items():
            expected = function(array)
            # A mean may cancel: it is as good as the values that went into it.
            unit = scale if column == "Avg Value" else max(abs(expected), 1e-30)
            worst[column] = max(worst[column], abs(float(row[column]) - expected) / unit)
    for column, error in worst.items():
        checks.check(f"stats --csv: {column} as numpy's float64", error <= STATISTICS, f"off by {error:.1e} at most")


def check_layer(checks, run, name):
    """A layer by its line: the product, the bias, and their gradients, each against two computations of numpy's."""
    line, found = run.find(f"self.{name}(x)")
    product_type = "Conv2D" if name in layers.CONVOLUTIONS else "MatMul"
    direct = found.get("direct", [])
    checks.equal(f"{name}: {line} made", types_of(direct), sorted([product_type, "BiasAdd"]))
    by_type = {row["op_type"]: row for row in direct}
    if len(by_type) != 2:
        return
    product, bias = by_type[product_type], by_type["BiasAdd"]
    x, weight = (run.load(product, "input", slot).astype(np.float64) for slot in (0, 1))
    if name in layers.CONVOLUTIONS:
        expected = layers.convolve(x, weight, *layers.CONVOLUTIONS[name][3:])
    else:
        # The CPU's Flatten changes nothing but the shape, and the file of what it gave away has the one from before.
        expected = layers.multiply(x.reshape(len(x), -1), weight)
    checks.close(f"{name}: {product_type} of its dumped inputs", run.load(product, "output"), expected, RECOMPUTED)
    checks.close(f"{name}: {product_type} of the whole network", run.load(product, "output"), run.values[name], FORWARD)
    check_statistics_of(checks, run, f"{name}: {product_type}", product, expected)
    x, shift = (run.load(bias, "input", slot).astype(np.float64) for slot in (0, 1))
    expected = layers.add_bias(x, shift)
    checks.close(f"{name}: BiasAdd of its dumped inputs", run.load(bias, "output"), expected, RECOMPUTED)
    checks.close(f"{name}: BiasAdd of the whole network", run.load(bias, "output"), run.values[name + "+bias"], FORWARD)
    check_statistics_of(checks, run, f"{name}: BiasAdd", bias, expected)
    check_gradients(checks, run, name, found.get("gradient", []))


def check_statistics_of(checks, run, name, row, expected):
    """What a user does next: statistics of the file that was found."""
    path = next(file["path"] for file in row["files"] if file["io"] == "output")
    (found,) = run.program.rows("stats", "-d", os.path.join("dump", path))
    wanted = {"min": expected.min(), "max": expected.max(), "l2norm": np.sqrt((expected**2).sum())}
    # The smallest and the largest of sums that cancel are as exact as the sums: in units of the largest.
    unit = np.abs(expected).max()
    error = max(abs(found[key] - value) / max(unit, abs(value)) for key, value in wanted.items())
    figures = ", ".join(f"{key} {found[key]:.6g}" for key in wanted)
    checks.check(f"{name}: stats of its output", error <= STATISTICS, f"{figures}, off by {error:.1e}")


def check_gradients(checks, run, name, rows):
    """The step was before - learning rate * gradient: Momentum starts with none."""
    makers = {name + ".weight": ("Conv2DBackpropFilter", "MatMul"), name + ".bias": ("BiasAddGrad",)}
    for parameter, op_types in makers.items():
        before = run.before[parameter].astype(np.float64)
        step = (before - run.known["after." + parameter]) / layers.LEARNING_RATE
        errors = [difference(run.load(row, "output"), step) for row in rows if row["op_type"] in op_types]
        best = min(errors, default=np.inf)
        checks.check(f"{parameter}: its line has the gradient of the step", best <= UPDATE,
                     f"difference {best:.1e}, at most {UPDATE:.0e}, {len(errors)} candidates")


def uses_of(run, code, op_type):
    """Operators that a line made itself; "fused" are those whose statement MindSpore expanded."""
    line, found = run.find(code)
    rows = found.get("direct", []) + found.get("fused", [])
    return line, [row for row in rows if row["op_type"] == op_type]


def check_shared(checks, run, what, code, op_type, names):
    """A cell or function that is used several times: all uses have one line, and msdump says that it cannot tell."""
    line, rows = uses_of(run, code, op_type)
    checks.equal(f"{what}: {line} made", [row["op_type"] for row in rows], [op_type] * len(names))
    flagged = sum(row["one_of_several"] for row in rows)
    checks.equal(f"{what}: all are called one of several", flagged, len(names))
    outputs = [run.load(row, "output") for row in rows]
    if len(outputs) == len(names):
        errors = [difference(output, run.values[name]) for name, output in zip(names, outputs)]
        checks.check(f"{what}: outputs in the order of the calls", max(errors, default=np.inf) <= FORWARD,
                     f"difference {max(errors):.1e}, at most {FORWARD:.0e}")
    if op_type == "ReLU":
        errors = [difference(output, layers.relu(run.load(row, "input"))) for row, output in zip(rows, outputs)]
        checks.check(f"{what}: ReLU of its dumped inputs", max(errors, default=np.inf) == 0, f"{len(errors)} outputs")


def check_places(checks, run):
    """Ways to ask for one line."""
    code = "self.conv3(x)"
    line, found = run.find(code)
    names = {row["op_name"] for rows in found.values() for row in rows}
    number = run.lines_of(code)[0]
    for what, question in {
        "by its text": ["--code", code],
        "by its absolute path": ["--line", f"{run.script}:{number}"],
        "as a traceback has it": ["--line", f'File "{run.script}", line {number}, in construct'],
    }.items():
        rows = run.program.rows("find-op", *question, "-d", "dump", expect=FOUND_OR_NOT)
        same = {row["op_name"] for row in rows} == names
        checks.check(f"{line} {what}", same, f"{len(rows)} of {len(names)} operators")
    nothing = run.lines_of("class AlexNet")[0]
    report = run.program.report("find-op", "--line", f"alexnet.py:{nothing}", "-d", "dump", expect=(1,))
    near = [place["line"] for place in report["nearest"]]
    nearest = run.lines_of("self.conv1(x)")[0] in near
    checks.check("a line without operators names the nearest", nearest, f"{near}")


def check_loss(checks, run):
    """From the logits as rounded to bfloat16. MindSpore gives both casts the line of the second."""
    line, rows = uses_of(run, "x = ops.cast(half", "Cast")
    checks.equal(f"the casts: {line} made", len(rows), 2)
    checks.equal("the casts: both are called one of several", sum(row["one_of_several"] for row in rows), 2)
    if len(rows) != 2:
        return
    logits, half, rounded = run.load(rows[0], "input"), run.load(rows[0], "output"), run.load(rows[1], "output")
    checks.close("the casts: the logits of the whole network", logits, run.values["fc3+bias"], FORWARD)
    checks.close("the casts: rounded to bfloat16", half, layers.round_to_bfloat16(logits), 0)
    checks.close("the casts: and back", rounded, half, 0)
    loss, gradient = layers.loss_of(rounded.astype(np.float64), run.known["labels"])
    checks.close("the loss that the script got", run.known["loss"], loss, RECOMPUTED)
    rows = run.program.rows("find-op", "SparseSoftmaxCrossEntropyWithLogits-op*", "-d", "dump")
    outputs = {np.size(output): output for output in (run.load(row, "output") for row in rows)}
    for what, value in (("the loss", np.asarray(loss)), ("its gradient", gradient)):
        output = outputs.get(value.size, np.array([]))
        output = output.reshape(value.shape) if output.size == value.size else output
        checks.close(f"find-op by name: the operator of {what}", output, value, RECOMPUTED)


def check_map_ir(checks, run):
    report = run.program.report("map-ir", "-d", "dump", "--prove")
    summary = report["summary"]
    checks.check("map-ir read every operator", summary["parsed"] == summary["nodes"] > 0, summary["parsed"])
    checks.check("map-ir: all operators have files, all files an operator", summary["matched_operators"] > 0
                 and summary["unmatched_operators"] + summary["unmatched_files"] == 0, summary)
    agreeing = sum(row["proof"]["agreeing"] for row in report["rows"])
    wrong = [row["op_name"] for row in report["rows"] if row["proof"]["contradicting"]]
    checks.check("map-ir --prove: no contradiction", agreeing > 0 and not wrong, f"{agreeing} inputs agree; {wrong}")
    checks.check("map-ir: the numbers of the files are others", report["numbering"]["renumbered"],
                 report["numbering"]["evidence"])
    # The IR that save_graphs writes after the renumbering has the names of the files: another way to the same pairs.
    saved = run.program.report("map-ir", "-d", "dump", "--ir", "save_graphs")

    def source(row):
        return row["source"] and (row["source"]["file"], row["source"]["line"])

    def pairs(rows):
        return {tuple(file["path"] for file in row["files"]): (row["op_type"], source(row)) for row in rows}

    mine, other = pairs(report["rows"]), pairs(saved["rows"])
    checks.check("map-ir with the IR of save_graphs: the same files and lines", mine == other,
                 f"{len(mine.items() & other.items())} of {len(mine)} operators")
    moved = sum(a["op_name"] != b["op_name"] for a, b in zip(report["rows"], saved["rows"]))
    checks.check("map-ir: operators had other numbers in the one than in the other", moved > 0, f"{moved}")


def main():
    msdump, folder, script = sys.argv[1:]
    program, checks = Program(msdump, folder), Checks()
    run = Run(program, os.path.abspath(script))
    check_tensors(checks, run)
    for name in (*layers.CONVOLUTIONS, *layers.DENSE):
        check_layer(checks, run, name)
    check_shared(checks, run, "the ReLU cell", "x = self.relu(x)", "ReLU", ["relu1", "relu2", "relu3", "relu4"])
    check_shared(checks, run, "ops.relu", "x = ops.relu(x)", "ReLU", ["relu5", "relu6"])
    check_shared(checks, run, "the pool", "x = self.pool(x)", "MaxPool", ["pool1", "pool5"])
    check_shared(checks, run, "squash, its product", "scaled = x * factor", "Mul", ["scaled1", "scaled2"])
    check_shared(checks, run, "squash, its tanh", "return TANH(scaled)", "Tanh", ["squash1", "squash2"])
    check_places(checks, run)
    check_loss(checks, run)
    check_map_ir(checks, run)
    if "info" in program.commands():
        checks.check("info", program.run("info", "-d", "dump") != "", "says something")
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
