#!/usr/bin/env python3
"""Texts of layouts that the scorer must take or refuse; the exit code is 1 when it does otherwise."""
import sys

from layouts import is_right


def cut(kind, axis, over):
    return {"kind": kind, "axis": axis, "over": over}


TP, DP, SUM, BLOCKS, ZIGZAG = (cut("concat", 2, "tp"), cut("concat", 0, "dp"), cut("sum", None, "tp"),
                               cut("blocks", 2, "tp"), cut("zigzag", 1, "cp"))
TWO, FOUR = {"tp": 2}, {"tp": 2, "dp": 2}

# Right or not, the two texts, the candidate's cuts and its mesh, the reference's.
TEXTS = [
    (True, "concat axis 2 of ranks 0-1", None, [TP], TWO, [], {}),
    (False, "concat axis 1 of ranks 0-1", None, [TP], TWO, [], {}),
    (False, "concat axis 2 in 3 blocks of ranks 0-1", None, [TP], TWO, [], {}),
    (False, "copy of ranks 0-1", None, [TP], TWO, [], {}),
    (False, None, None, [TP], TWO, [], {}),
    (True, "copy by 2, concat axis 0 by 2 of ranks 0-3", None, [DP], FOUR, [], {}),
    (False, "concat axis 0 of ranks 0-1", None, [DP], FOUR, [], {}),
    (True, "concat axis 2 by 2, concat axis 0 by 2 of ranks 0-3", None, [DP, TP], FOUR, [], {}),
    (False, "concat axis 0 of ranks 0-3", None, [DP, TP], FOUR, [], {}),
    (True, "concat axis 2 in 3 blocks of ranks 0-1", None, [BLOCKS], TWO, [], {}),
    (False, "concat axis 2 of ranks 0-1", None, [BLOCKS], TWO, [], {}),
    (True, "mean of ranks 0-1", None, [SUM], TWO, [], {}),
    (True, "sum by 2, concat axis 0 by 2 of ranks 0-3, times 0.5", None, [DP, SUM], FOUR, [], {}),
    (True, "copy of ranks 0-1", None, [], TWO, [], {}),
    (False, "sum of ranks 0-1", None, [], TWO, [], {}),
    (True, "zigzag axis 1 of ranks 0-1", None, [ZIGZAG], {"cp": 2}, [], {}),
    (False, "concat axis 1 of ranks 0-1", None, [ZIGZAG], {"cp": 2}, [], {}),
    (True, "concat axis 2 of ranks 0-1", "concat axis 0 of ranks 0-1", [TP], TWO, [DP], {"dp": 2}),
    (False, "concat axis 2 of ranks 0-1", "copy of ranks 0-1", [TP], TWO, [DP], {"dp": 2}),
]


def main():
    wrong = 0
    for wanted, text, other, ours, our_mesh, theirs, their_mesh in TEXTS:
        tensor = {"candidate": {"layout": ours, "shape": [4, 8, 32]}, "reference": {"layout": theirs, "shape": [4, 8, 32]}}
        row = {"layout": text, "reference_layout": other, "layout_confidence": 1, "ranks": [0, 1]}
        if is_right(row, tensor, (our_mesh, their_mesh)) != wanted:
            wrong += 1
            print(f"{'refused' if wanted else 'taken'}: {text}")
    print(f"{len(TEXTS) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
