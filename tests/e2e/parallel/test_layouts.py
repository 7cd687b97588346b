#!/usr/bin/env python3
"""Texts of layouts that the scorer must take or refuse; the exit code is 1 when it does otherwise."""
import sys

from layouts import is_right


def cut(kind, axis, over):
    return {"kind": kind, "axis": axis, "over": over}


TP, DP, SUM, BLOCKS, ZIGZAG = (cut("concat", 2, "tp"), cut("concat", 0, "dp"), cut("sum", None, "tp"),
                               cut("blocks", 2, "tp"), cut("zigzag", 1, "cp"))
TWO, FOUR = {"tp": 2}, {"tp": 2, "dp": 2}

# Right or not, the text, the candidate's cuts and its mesh, the reference's.
TEXTS = [
    (True, "concat axis 2 of ranks 0-1", [TP], TWO, [], {}),
    (True, "concat axis -1 of ranks 0-1", [TP], TWO, [], {}),
    (False, "concat axis 2 of ranks 1, 0", [TP], TWO, [], {}),
    (False, "concat axis 1 of ranks 0-1", [TP], TWO, [], {}),
    (False, "concat axis 2 in 3 groups of ranks 0-1", [TP], TWO, [], {}),
    (False, "copy of ranks 0-1", [TP], TWO, [], {}),
    (False, None, [TP], TWO, [], {}),
    (True, "concat axis 0 of ranks 0, 2", [DP], FOUR, [], {}),
    (True, "concat axis 0 of (copy of ranks 0-1, copy of ranks 2-3)", [DP], FOUR, [], {}),
    (False, "concat axis 0 of ranks 0-1", [DP], FOUR, [], {}),
    (True, "concat axis 0 of concat axis 2 of ranks 0-3", [DP, TP], FOUR, [], {}),
    (False, "concat axis 0 of ranks 0-3", [DP, TP], FOUR, [], {}),
    (True, "concat axis 2 in 3 groups of ranks 0-1", [BLOCKS], TWO, [], {}),
    (False, "concat axis 2 of ranks 0-1", [BLOCKS], TWO, [], {}),
    (True, "mean of ranks 0-1", [SUM], TWO, [], {}),
    (True, "sum of ranks 0-1, concat axis 0 of ranks 0-3", [DP, SUM], FOUR, [], {}),
    (True, None, [], TWO, [], {}),
    (True, "copy of ranks 0-1", [], TWO, [], {}),
    (False, "sum of ranks 0-1", [], TWO, [], {}),
    (True, "zigzag axis 1 of ranks 0-1", [ZIGZAG], {"cp": 2}, [], {}),
    (False, "concat axis 1 of ranks 0-1", [ZIGZAG], {"cp": 2}, [], {}),
    (True, "concat axis 2 of ranks 0-1 to concat axis 0 of ranks 0-1", [TP], TWO, [DP], {"dp": 2}),
    (False, "concat axis 2 of ranks 0-1", [TP], TWO, [DP], {"dp": 2}),
]


def main():
    wrong = 0
    for wanted, text, ours, our_mesh, theirs, their_mesh in TEXTS:
        tensor = {"candidate": {"layout": ours, "shape": [4, 8, 32]}, "reference": {"layout": theirs, "shape": [4, 8, 32]}}
        if is_right({"layout": text}, tensor, (our_mesh, their_mesh)) != wanted:
            wrong += 1
            print(f"{'refused' if wanted else 'taken'}: {text}")
    print(f"{len(TEXTS) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
