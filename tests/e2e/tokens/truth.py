"""The first wrong token of a fault: the rows that differ from the same rollout without it, bit by bit and visibly."""
import torch

from places import place_of

VISIBLE = {"float32": 1e-4, "bfloat16": 2e-2}  # of the largest element of a row: beyond what rounding makes


def row_errors(wrong, right, rows):
    """Of each row, the largest difference in units of its largest element. A row may be several heads."""
    wrong, right = (one.float().reshape(rows, -1) for one in (wrong, right))
    errors = (wrong - right).abs().amax(-1) / right.abs().amax(-1).clamp(min=1e-9)
    return errors.nan_to_num(float("inf")).tolist()


def wrong_tokens(outputs, expected, step):
    """{(sequence, position): error} of those that differ."""
    found = {}
    for wrong, right in zip(outputs, expected):
        count = next((len(rows) for rows in (step["rows"], step["logits"])
                      if wrong.shape and (len(rows) == wrong.shape[0] or len(rows) == wrong.shape[:2].numel())), None)
        if count is None or torch.equal(wrong, right):
            continue
        rows = step["rows"] if count == len(step["rows"]) else step["logits"]
        for token, error in zip(rows, row_errors(wrong, right, count)):
            if token and error > 0:
                found[tuple(token)] = max(error, found.get(tuple(token), 0.0))
    return found


def first_tokens(folder, healthy, fault, dtype, steps):
    """The first module with a visible difference, and the tokens that an answer may name: of the outputs of the declared part
    and of that module, all that differ, in the order of passes and rows, up to the first that does so visibly."""
    traces = [torch.load(f"{one}/trace.pt") for one in (folder, healthy)]
    found = [(number, name, tokens) for (number, name, outputs), (_, _, expected) in zip(*traces)
             if (tokens := wrong_tokens(outputs, expected, steps[number]))]
    first = next((name for _, name, tokens in found if max(tokens.values()) > VISIBLE[dtype]), None)
    right = []
    for place in dict.fromkeys([(fault.layer, fault.part)] + ([place_of(first)] if first else [])):
        ordered = [(number, token, error) for number, name, tokens in found if place_of(name) == place
                   for token, error in sorted(tokens.items(), key=lambda one: steps[number]["rows"].index(list(one[0])))]
        for number, token, error in ordered:
            right.append({"step": number, "row": steps[number]["rows"].index(list(token)), "sequence": token[0],
                          "position": token[1], "error": error})
            if error > VISIBLE[dtype]:
                break
    return first, right
