"""Whether the rows that msdump pairs are those of the same tokens, in clean pairs: there equal tokens have equal values, and
other tokens have others."""

LARGEST = {"float32": 1e-3, "bfloat16": 0.15}  # relative_l2 of tensors whose rows are right; of other tokens it is about 1.4
# Of parts whose tensors have a row for each token on both sides, or for the last of each sequence.
PARTS = ("embed", "input_norm", "attention", "o_proj", "post_norm", "router", "mlp", "norm", "lm_head", "log_probs")


def judge_rows(answer, sides, dtypes):
    """(tensors that are compared with the right rows, tensors of a part that both sides have)."""
    right = of = 0
    limit = max(LARGEST[dtype] for dtype in dtypes)
    for row in answer["rows"]:
        if not row["a"] or not row["b"] or "parameter" in (row["a"]["io"], row["b"]["io"]) or not row["a"]["shape"]:
            continue
        places = [side.of(row[key]["op_name"]) for side, key in zip(sides, "ab")]
        if None in places or places[0] != places[1] or places[0][1] not in PARTS:
            continue
        error = row["metrics"]["relative_l2"]
        of += 1
        right += row["verdict"] == "same" or (isinstance(error, (int, float)) and error <= limit)
    return right, of
