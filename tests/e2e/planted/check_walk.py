"""Where NaN and infinities come up in one run: an own walk over its operators along the data flow, step by step.

A root is an operator that makes something bad of inputs of which none is bad. Bad is what is not finite, but for
infinities that the script itself has as constants (masks), and infinities where these are only handed on.
What comes in bad, a parameter or an input of the network, is named where an operator makes something bad of it.
"""
import re
from dataclasses import dataclass, field

import numpy as np

from walk import IN_PLACE, NEVER_WRITTEN, Run

FINITE, GIVEN, UNKNOWN, BAD = range(4)  # unknown: not dumped, and from another graph
INPUT_OF_NETWORK = re.compile(r"inputs\d+")


@dataclass
class Found:
    """An operator and its output, or what came in."""

    step: int
    kind: str  # nan, inf, parameter, input
    node: object  # the operator; of what came in the first that reads it
    slot: int = 0
    name: str = ""  # of what came in
    turn: int = 0  # in a loop
    inputs_finite: bool = False  # all that went in is there, and is


@dataclass
class Turn:
    """An operator once in a step, with its files and what was found about its outputs."""

    step: int
    node: object
    turn: int
    paths: dict  # (io, slot) to the path
    outputs: dict = field(default_factory=dict)  # slot to the state


def values_of(path):
    """All that is not finite: nan, inf, -inf."""
    array = np.load(path)
    if array.dtype.kind != "f":
        return frozenset()
    tests = {"nan": np.isnan, "inf": np.isposinf, "-inf": np.isneginf}
    return frozenset(name for name, test in tests.items() if test(array).any())


def turns_of(run: Run, dump):
    """In the order of time graph by graph, in it in that of the data flow."""
    turns, begins = [], {}
    for step in dump.steps():
        for node in run.operators():
            files = dump.of(node.graph, step, node.in_file)
            for number in range(max(map(len, files.values()), default=0)):
                paths = {key: paths[number] for key, paths in files.items() if number < len(paths)}
                turns.append(Turn(step, node, number, paths))
                time = min(int(path.rsplit("/", 1)[-1].split(".")[4]) for path in paths.values())
                key = (step, node.graph, number)
                begins[key] = min(begins.get(key, time), time)
    return sorted(turns, key=lambda turn: (turn.step, begins[turn.step, turn.node.graph, turn.turn], turn.node.index))


class Walk:
    def __init__(self, run, dump):
        self.run = run
        self.turns = turns_of(run, dump)
        self.done = {}  # (step, graph, index of the node, turn) to the Turn
        self.found = []
        for turn in self.turns:
            self.found += self.visit(turn)
            self.done[turn.step, turn.node.graph, turn.node.index, turn.turn] = turn

    def first_step(self):
        """What was found in the first step that has something; all later steps have what became of it."""
        return [found for found in self.found if found.step == self.found[0].step]

    def given(self):
        """Outputs with infinities that the script has put there."""
        return {(key, slot) for key, turn in self.done.items()
                for slot, state in turn.outputs.items() if state == GIVEN}

    def results(self, turn):
        """Of an operator that updates inputs these are; then, and beside others, what nothing reads is not written."""
        in_place = IN_PLACE.get(turn.node.op_type, ())
        read = self.run.read_outputs(turn.node)
        several = sum(io == "output" for io, _ in turn.paths) > 1
        for (io, slot), path in sorted(turn.paths.items()):
            if io == "input" and slot in in_place:
                yield io, slot, path
            if io == "output" and (slot in read or not (several or in_place or turn.node.op_type in NEVER_WRITTEN)):
                yield io, slot, path

    def inputs(self, turn):
        """What went in: the source and the state. Updated inputs show what came out, and were finite: else a step
        before, or another reader in this one, is found first."""
        in_place = IN_PLACE.get(turn.node.op_type, ())
        for slot, source in enumerate(self.run.sources(turn.node)):
            if slot in in_place:
                continue
            path = turn.paths.get(("input", slot)) or self.output(turn, source)
            if path is None:
                if self.run.has_value(turn.node, source):
                    yield source, UNKNOWN
            elif not values_of(path):
                yield source, FINITE
            else:
                yield source, GIVEN if self.is_given(turn, source) else BAD

    def output(self, turn, source):
        """The file of the operator that made it."""
        if source.kind == "operator":
            producer = self.done.get((turn.step, turn.node.graph, source.what[0], turn.turn))
            return producer and producer.paths.get(("output", source.what[1]))
        return None

    def is_given(self, turn, source):
        """Of something that is not finite: has the script put it there?"""
        if source.kind == "constant":
            return True
        if source.kind != "operator":
            return False
        index, slot = source.what
        producer = self.done.get((turn.step, turn.node.graph, index, turn.turn))
        if producer:
            return producer.outputs.get(slot) == GIVEN
        graph = self.run.graphs[turn.node.graph]  # one that only changes a shape, and has no files
        return any(self.is_given(turn, graph.source(argument)) for argument in graph.nodes[index].arguments)

    def visit(self, turn):
        inputs = list(self.inputs(turn))
        given = any(state == GIVEN for _, state in inputs)
        # What another graph has handed on was good while nothing bad was made.
        spoilt = bool(self.found) and self.found[-1].step == turn.step
        bad = [source for source, state in inputs if state == BAD or state == UNKNOWN and spoilt]
        found = []
        for io, slot, path in self.results(turn):
            values = values_of(path)
            handed_on = "nan" not in values and given
            state = FINITE if not values else GIVEN if handed_on and not bad else BAD
            if io == "output":
                turn.outputs[slot] = state
            if state == BAD and not found:
                finite = all(state == FINITE for _, state in inputs)
                found = self.entered(turn, bad) if bad else [
                    Found(turn.step, "nan" if "nan" in values else "inf", turn.node, slot, "", turn.turn, finite)]
        return found

    def entered(self, turn, bad):
        known = {found.name for found in self.found}
        return [Found(turn.step, "parameter" if source.is_weight else "input", turn.node, name=source.what)
                for source in bad if source.kind == "parameter" and source.what not in known and
                (source.is_weight or INPUT_OF_NETWORK.fullmatch(source.what))]
