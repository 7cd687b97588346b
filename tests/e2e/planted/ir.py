"""The final graphs of a run as save_graphs writes them (trace_code_graph_NNNN): there operators have the names of the
dump files, which those in rank_0/graphs have not. Read here on its own, so that the truth owes nothing to msdump.
"""
import glob
import os
import re
from dataclasses import dataclass, field

STATEMENT = re.compile(r"^  %(\d+)\([^=]*\) = (?:PrimFunc_)?(\w+)\(")
PARAMETER = re.compile(r"^%(para\d+_[^:]+): (.*)")
FULL_NAME = re.compile(r"# Fullname with scope: \((.*)\)")
SOURCE = re.compile(r"# In file (.*):(\d+)(?:~\d+)?, \d+~\d+/")
NUMBER = re.compile(r"-op\d+$")
# Nothing runs and nothing is dumped for these; the value of the first input goes through where there is one.
VIRTUAL = {"Load", "Depend", "UpdateState", "MakeTuple", "TupleGetItem", "Return", "Partial", "Switch"}


@dataclass
class Node:
    graph: int
    index: int
    primitive: str
    arguments: list  # texts
    name: str = ""
    saved_name: str = ""  # as rank_0/graphs spells it
    lines: list = field(default_factory=list)  # (file name, line), outermost first

    @property
    def op_type(self):
        return NUMBER.sub("", self.name).rsplit("/", 1)[-1]

    @property
    def scope(self):
        return self.name.rsplit("/", 1)[0]

    @property
    def in_file(self):
        """The part of the file names that the operator has to itself."""
        return f"{self.op_type}.{self.name.replace('/', '_')}"


@dataclass
class Source:
    kind: str  # operator, parameter, constant, other
    what: object  # (index of the node, output), the parameter's name, the constant's text
    is_weight: bool = False


class Graph:
    def __init__(self, path):
        self.parameters = {}  # name with paraN_ to whether it is a weight
        self.nodes = {}
        node = None
        with open(path, encoding="utf-8") as file:
            for line in file:
                if entry := re.match(r"# IR entry: @kernel_graph(\d+)", line):
                    self.number = int(entry[1])
                elif parameter := PARAMETER.match(line):
                    self.parameters[parameter[1]] = "is_parameter" in parameter[2]
                elif statement := STATEMENT.match(line):
                    node = Node(self.number, int(statement[1]), statement[2], split_arguments(line[statement.end():]))
                    self.nodes[node.index] = node
                elif node and (name := FULL_NAME.search(line)):
                    node.name = name[1]
                elif node and (source := SOURCE.search(line)):
                    node.lines.append((os.path.basename(source[1]), int(source[2])))

    def source(self, text):
        """Where the value of an argument comes from, through what only passes it on."""
        if text.startswith("%para"):
            return Source("parameter", text.split("_", 1)[1], self.parameters.get(text[1:], False))
        if not re.fullmatch(r"%\d+", text):
            return Source("constant", text)
        node = self.nodes[int(text[1:])]
        if node.primitive in ("Load", "Depend"):
            return self.source(node.arguments[0])
        if node.primitive == "TupleGetItem":
            inner = self.source(node.arguments[0])
            slot = int(re.search(r"\d+", node.arguments[1].removeprefix("I64"))[0])
            return Source("operator", (inner.what[0], slot)) if inner.kind == "operator" else inner
        return Source("other" if node.primitive in VIRTUAL else "operator", (node.index, 0))

    def operators(self):
        return [node for node in self.nodes.values() if node.primitive not in VIRTUAL]


def split_arguments(text):
    """Up to the closing parenthesis."""
    arguments, depth, quoted, start = [], 0, False, 0
    for place, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in "([":
            depth += 1
        elif letter in ")]" and depth:
            depth -= 1
        elif (letter == "," or letter == ")") and not depth:
            arguments.append(text[start:place].strip())
            start = place + 1
            if letter == ")":
                break
    return [argument for argument in arguments if argument]


def read_graphs(folder, dump):
    """All graphs of a run by number; `folder` is that of save_graphs, `dump` has the other spelling of the names."""
    graphs = {}
    for path in glob.glob(os.path.join(folder, "trace_code_graph_*")):
        graph = Graph(path)
        graphs[graph.number] = graph
        saved = Graph(os.path.join(dump, "rank_0/graphs", f"ms_output_trace_code_graph_{graph.number}.ir"))
        for index, node in graph.nodes.items():
            assert saved.nodes[index].op_type == node.op_type, (path, index)
            node.saved_name = saved.nodes[index].name
    return graphs
