"""Whether the rows that msdump pairs are those of the same tokens, in clean pairs: there equal tokens have equal values, and
other tokens have others."""

LARGEST = {"float32": 1e-3, "bfloat16": 0.15}  # relative_l2 of tensors whose rows are right; of other tokens it is about 1.4
# Parts with a row for each token, or for the last of each sequence, on both sides.
PARTS = ("embed", "input_norm", "attention", "o_proj", "post_norm", "router", "mlp", "norm", "lm_head", "log_probs")


def judge_rows(answer, sides, dtypes):
    """(places with right rows, places that both dumps have): right is one of which tensors are compared, all with the same
    tokens. Calls inside a module do not count; the module does."""
    wanted = {place for place in sides[0].dumped & sides[1].dumped if place[1] in PARTS}
    right, wrong = set(), set()
    for row in answer["rows"]:
        if not row["a"] or not row["b"] or "parameter" in (row["a"]["io"], row["b"]["io"]):
            continue
        names = [row[side]["op_name"] for side in "ab"]
        if any(side.parents and not name.startswith("Module.") for side, name in zip(sides, names)):
            continue
        places = {side.of(name) for side, name in zip(sides, names)}
        if len(places) == 1 and places <= wanted:
            error = row["metrics"]["relative_l2"]
            same = row["verdict"] == "same" or (isinstance(error, (int, float)) and error <= max(map(LARGEST.get, dtypes)))
            (right if same else wrong).update(places)
    return len(right - wrong), len(wanted)
