"""The truth of a case: which operators a changed line became, and whether the two dumps show the fault there.

Operators come from the text of the changed line and the final graph. An own walk over the operators then looks for all
whose inputs are equal to the bit and whose outputs are not; nothing else may be among them.
"""
from dataclasses import dataclass, field

import numpy as np

from dumps import Dump
from ir import read_graphs

# Inputs that hold what the operator has written: files are made after it has run.
IN_PLACE = {
    "ApplyMomentum": (0, 1), "Adam": (0, 1, 2), "SGD": (0, 3, 5), "AssignAdd": (0,), "Assign": (0,),
    "BatchNorm": (3, 4), "AdamWeightDecay": (0, 1, 2), "ApplyRMSProp": (0, 1, 2),
    "ApplyAdagrad": (0, 1), "ApplyFtrl": (0, 1, 2), "ApplyAdaMax": (0, 1, 2), "ApplyAdadelta": (0, 1, 2)
}
NEVER_WRITTEN = {"Adam", "AdamWeightDecay", "ApplyRMSProp"}  # outputs that have whatever the memory held
NEVER_WRITTEN_SLOTS = {("BatchNorm", 1), ("BatchNorm", 2)}  # the gradient is given the second all the same
# In units of |b| + rms(b): what a fault must do to be seen in float32, and next to the noise of float16.
SEEN_IN_FLOAT32, SEEN_IN_FLOAT16 = 2e-4, 1.5e-2


class Run:
    def __init__(self, folder):
        self.folder = folder
        self.dump = Dump(f"{folder}/dump")
        self.graphs = read_graphs(f"{folder}/save_graphs", f"{folder}/dump")

    def operators(self):
        """Those with files: the runtime drops what only changes a shape, and leaves others out of a loop."""
        known = {(graph, op) for graph, _, op in self.dump.files}
        return [node for number in sorted(self.graphs) for node in self.graphs[number].operators()
                if (number, node.in_file) in known]

    def sources(self, node):
        return [self.graphs[node.graph].source(argument) for argument in node.arguments]

    def has_value(self, node, source):
        """Neither a constant nor what only keeps the order."""
        if source.kind == "other":
            return self.graphs[node.graph].nodes[source.what[0]].primitive != "UpdateState"
        return source.kind != "constant"

    def read_outputs(self, node):
        graph = self.graphs[node.graph]
        read = set()
        for other in graph.operators():
            for source in (graph.source(argument) for argument in other.arguments):
                if source.kind == "operator" and source.what[0] == node.index:
                    read.add(source.what[1])
        return read


def error(a, b):
    """The largest difference, in units of |b| + rms(b); infinite for another shape or kind."""
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        return np.inf
    a, b = a.astype(np.float64), b.astype(np.float64)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    kept = np.isfinite(b)
    a, b = a[kept], b[kept]
    if not a.size or np.array_equal(a, b):
        return 0.0
    return float(np.max(np.abs(a - b) / (np.abs(b) + np.sqrt(np.mean(b * b)) + 1e-300)))


def compare(files_a, files_b):
    return error(np.load(files_a), np.load(files_b))


@dataclass
class Pair:
    ref: object
    bad: object
    # By (step, occurrence): the largest error.
    inputs: dict = field(default_factory=dict)
    outputs: dict = field(default_factory=dict)
    constants: bool = False  # a constant differs
    blind: bool = False  # an input that is no constant was not dumped
    parameters: dict = field(default_factory=dict)  # that differ: name to (first step, error, is a weight)

    def faulty(self, tolerance):
        """The first step in which inputs agree and outputs do not; None when there is none."""
        if self.blind:
            return None
        return next((step for (step, turn), value in sorted(self.outputs.items())
                     if value > tolerance and self.inputs.get((step, turn), 0.0) <= tolerance), None)

    def effect(self):
        """In the first step that shows something: later ones show what became of it."""
        first = min((step for (step, _), value in self.outputs.items() if value), default=None)
        return max((value for (step, _), value in self.outputs.items() if step == first), default=0.0)


def constants_of(run, node):
    return tuple(source.what for source in run.sources(node) if source.kind == "constant")


def pair_operators(ref, bad):
    """By type, scope and lines; of several such by constants, then by order. And those that are alone."""
    def by_key(run):
        found = {}
        for node in run.operators():
            key = (node.graph if len(run.graphs) > 1 else 0, node.op_type, node.scope, tuple(node.lines))
            found.setdefault(key, []).append(node)
        return found

    of_ref, of_bad, pairs, alone = by_key(ref), by_key(bad), [], []
    for key in dict.fromkeys([*of_ref, *of_bad]):
        left, right = list(of_ref.get(key, [])), list(of_bad.get(key, []))
        if len(left) != len(right):
            for node in list(left):
                same = next((other for other in right if constants_of(bad, other) == constants_of(ref, node)), None)
                if same:
                    left.remove(node)
                    right.remove(same)
                    pairs.append(Pair(node, same))
        pairs += [Pair(*both) for both in zip(left, right)]
        alone += left[len(right):] + right[len(left):]
    return pairs, alone


def measure(ref, bad, pair):
    in_place = IN_PLACE.get(pair.ref.op_type, ())
    sources, sources_before = bad.sources(pair.bad), ref.sources(pair.ref)
    pair.constants = constants_of(ref, pair.ref) != constants_of(bad, pair.bad)
    read = bad.read_outputs(pair.bad)
    dumped = bad.dump.of(pair.bad.graph, bad.dump.steps()[0], pair.bad.in_file)
    pair.blind = any(bad.has_value(pair.bad, source) and ("input", slot) not in dumped
                     for slot, source in enumerate(sources))
    for step in ref.dump.steps():
        files = ref.dump.of(pair.ref.graph, step, pair.ref.in_file)
        others = bad.dump.of(pair.bad.graph, step, pair.bad.in_file)
        several = sum(io == "output" for io, _ in files) > 1
        for (io, slot), paths in files.items():
            source = sources[slot] if io == "input" and slot < len(sources) else None
            before = sources_before[slot] if io == "input" and slot < len(sources_before) else None
            if io == "output" and (pair.ref.op_type in NEVER_WRITTEN or (several and slot not in read) or
                                   (pair.ref.op_type, slot) in NEVER_WRITTEN_SLOTS):
                continue
            if source and source.kind == "constant":
                continue
            side = pair.outputs if io == "output" or slot in in_place else pair.inputs
            for turn, both in enumerate(zip(paths, others.get((io, slot), []))):
                value = compare(both[1], both[0])
                side[step, turn] = max(side.get((step, turn), 0.0), value)
                if value and source and source == before and source.kind == "parameter" and slot not in in_place:
                    # After a first difference all weights differ, and that is nothing new.
                    pair.parameters.setdefault(source.what, (step, value, source.is_weight))


@dataclass
class Walk:
    pairs: list
    alone: list

    def roots(self, tolerance=0.0):
        return [pair for pair in self.pairs if pair.faulty(tolerance) is not None]

    def parameters(self):
        """Weights that differ before any output did (later all of them do), and inputs of the graph."""
        found = {}
        for pair in self.pairs:
            for name, (step, value, is_weight) in pair.parameters.items():
                if name not in found or step < found[name][0]:
                    found[name] = (step, value, is_weight)
        first = min((step for pair in self.pairs for (step, _), value in pair.outputs.items() if value), default=0)
        return {name: (step, value, is_weight) for name, (step, value, is_weight) in found.items()
                if not is_weight or step <= first}


def walk(ref, bad):
    pairs, alone = pair_operators(ref, bad)
    for pair in pairs:
        measure(ref, bad, pair)
    return Walk(pairs, alone)
