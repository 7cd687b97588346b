"""The dump of a small transformer, with its IR: what the pictures of docs/ show.

Every operator is computed in Python, and each result is rounded as an accelerator would round it. In the candidate one
softmax of one layer loses the rows of its last four columns.
"""

import math
import random
import struct

SIZE = 16
KINDS = {"q": 41, "k": 42, "v": 43, "scores": 44, "weights": 45, "mix": 46, "sum": 51, "norm": 52}


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def softmax(a):
    rows = [[math.exp(x - max(row)) for x in row] for row in a]
    return [[x / sum(row) for x in row] for row in rows]


def norm(a):
    rows = []
    for row in a:
        mean = sum(row) / len(row)
        spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + 1e-6)
        rows.append([(x - mean) / spread for x in row])
    return rows


class Dump:
    def __init__(self, folder, rounding, seed):
        self.folder = folder / "rank_0/Net/0/0"
        self.graphs = folder / "rank_0/graphs"
        for made in (self.folder, self.graphs, folder / "rank_0/.dump_metadata"):
            made.mkdir(parents=True)
        (folder / "rank_0/.dump_metadata/config.json").write_text('{"ms_version":"2.10.0"}\n')
        self.rounding = rounding
        self.noise = random.Random(seed)
        self.nodes = []
        self.count = 0

    def save(self, kind, name, io, slot, value):
        data = b"".join(struct.pack(f"<{SIZE}f", *row) for row in value)
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({SIZE}, {SIZE}), }}"
        head = head.ljust((len(head) + 10 + 64) // 64 * 64 - 11) + "\n"
        file = f"{kind}.{name.replace('/', '_')}.0.0.{1700000000000000 + self.count}.{io}.{slot}.DefaultFormat.Float32.npy"
        (self.folder / file).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)

    def run(self, kind, scope, part, inputs, value):
        """An operator: `inputs` are pairs of a node and its value; the node and value of the result."""
        self.count += 1
        name = f"Default/network-Net/{scope}/{kind}-op{self.count}"
        value = [[struct.unpack("<f", struct.pack("<f", x * (1 + self.rounding * self.noise.gauss(0, 1))))[0] for x in row]
                 for row in value]
        for slot, (_, one) in enumerate(inputs):
            self.save(kind, name, "input", slot, one)
        self.save(kind, name, "output", 0, value)
        code = {"q": "q = self.q(x)", "k": "k = self.k(x)", "v": "v = self.v(x)", "scores": "scores = self.matmul(q, k)",
                "weights": "weights = self.softmax(scores)", "mix": "out = self.matmul(weights, v)", "sum": "x = x + self.attention(x)",
                "norm": "return self.norm(x)"}[part]
        types = ", ".join([f"<Tensor[Float32], ({SIZE}, {SIZE})>"] * len(inputs))
        self.nodes.append(f"  %{self.count}(CNode_{self.count}) = {kind}({', '.join(node for node, _ in inputs)})\n"
                          f"      : ({types}) -> (<Tensor[Float32], ({SIZE}, {SIZE})>)\n      # Fullname with scope: ({name})\n"
                          f"      # In file /home/user/train/net.py:{KINDS[part]}, 8~40/{code}/\n")
        return f"%{self.count}", value

    def finish(self):
        (self.graphs / "ms_output_trace_code_graph_0.ir").write_text(
            "# IR entry: @kernel_graph0\n# Total subgraphs: 1\n\n# Total params: 1\n# Params:\n"
            f"%para1_x: <Tensor[Float32], ({SIZE}, {SIZE})>\n\nsubgraph @kernel_graph0() {{\n" + "".join(self.nodes) + "}\n")


def make(folder, layers=12, wrong=None, rounding=1e-4, seed=1):
    """Writes the dump of a run; `wrong`: the layer whose softmax is broken."""
    dump, weights = Dump(folder, rounding, seed), random.Random(7)
    matrix = lambda: [[weights.gauss(0, 0.35) for _ in range(SIZE)] for _ in range(SIZE)]  # noqa: E731
    x = ("%para1_x", matrix())
    for layer in range(layers):
        block = f"layers-CellList/{layer}-Block"
        scope = f"{block}/attention-Attention"
        q, k, v = (dump.run("MatMul", scope, part, [x], product(x[1], matrix())) for part in "qkv")
        scores = dump.run("BatchMatMul", scope, "scores", [q, k], product(q[1], list(zip(*k[1]))))
        shares = softmax(scores[1])
        if layer == wrong:
            shares = [row[:SIZE - 4] + [0.0] * 4 if i >= SIZE // 2 else row for i, row in enumerate(shares)]
        share = dump.run("Softmax", scope, "weights", [scores], shares)
        mix = dump.run("BatchMatMul", scope, "mix", [share, v], product(share[1], v[1]))
        total = dump.run("Add", block, "sum", [x, mix], [[a + b for a, b in zip(*rows)] for rows in zip(x[1], mix[1])])
        x = dump.run("LayerNorm", f"{block}/norm-LayerNorm", "norm", [total], norm(total[1]))
    dump.finish()
