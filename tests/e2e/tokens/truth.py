"""The first wrong token of a fault: the rows that differ from the same rollout without it, bit by bit and visibly."""
import json

import torch

from places import place_of, right_places

# In units of the largest element of a row. Rows of clean pairs are 3e-6 apart at most, with bfloat16 0.02 and seldom 0.08.
VISIBLE = {"float32": 1e-4, "bfloat16": 5e-2}


def rows_of(output, step):
    """The tokens of a tensor's rows, which are those of the pass or those that have logits. A row may be several heads."""
    for tokens in (step["rows"], step["logits"]):
        if output.shape and len(tokens) in (output.shape[0], output.shape[:2].numel()):
            yield from zip(tokens, output.float().reshape(len(tokens), -1))
            return


def read(folder):
    """(step, module, {(output, sequence, position): row}) of each module in the order of execution."""
    with open(f"{folder}/rows.json", encoding="utf-8") as file:
        steps = json.load(file)["steps"]
    return steps, [(number, name, {(slot, *token): row for slot, output in enumerate(outputs)
                                   for token, row in rows_of(output, steps[number]) if token})
                   for number, name, outputs in torch.load(f"{folder}/trace.pt")]


def wrong_tokens(found, expected):
    """{(sequence, position): error} of the rows that differ: the largest difference in units of the largest element."""
    errors = {}
    for (slot, *token), row in found.items():
        right = expected[(slot, *token)]
        if not torch.equal(row, right):
            error = ((row - right).abs().max() / right.abs().max().clamp(min=1e-9)).nan_to_num(float("inf")).item()
            errors[tuple(token)] = max(error, errors.get(tuple(token), 0.0))
    return errors


def first_tokens(folder, healthy, fault, writer, dtype):
    """The first module with a visible difference, and the tokens that an answer may name: of that module and of each right
    place that shows the fault, all that differ, in the order of passes and rows, up to the first that does so visibly."""
    expected = {}
    for _, name, rows in read(healthy)[1]:
        expected.setdefault(name, {}).update(rows)
    steps, trace = read(folder)
    found = [(number, name, errors) for number, name, rows in trace if (errors := wrong_tokens(rows, expected[name]))]
    first = next((name for _, name, errors in found if max(errors.values()) > VISIBLE[dtype]), None)
    right = {}
    for place in {(fault.layer, fault.part), first and place_of(first)} | right_places(fault, writer):
        errors = sorted((number, steps[number]["rows"].index(list(token)), *token, error) for number, name, tokens in found
                        if place_of(name) == place for token, error in tokens.items())
        if all(error <= VISIBLE[dtype] for *_, error in errors):
            continue
        for number, row, sequence, position, error in errors:
            right.setdefault((number, row), {"step": number, "row": row, "sequence": sequence, "position": position,
                                             "error": error, "layer": place[0], "part": place[1]})
            if error > VISIBLE[dtype]:
                break
    return first, [right[key] for key in sorted(right)]
