"""Whether what msdump says of a layout is what the code did.

Its text is read tolerantly: "concat axis 1 of ranks 0-3", "copy of ranks 0, 2", "sum of ranks 0-1", "zigzag axis -1 of
ranks 0-1", nested or side by side for a mixture. What counts: the kinds and axes that are named, copies left out, and
ranks that have the tensor and have all of its parts, in their order.
"""
import re

from mesh import cells

KINDS = re.compile(r"\b(concat|zigzag|sum|mean|partial|average|block\w*|permut\w*|fused|interleav\w*)\b"
                   r"(?:\s+(?:along |on )?axis[ =:]*(-?\d+))?", re.IGNORECASE)
RANKS = re.compile(r"\branks?[ =:]*((?:\d+(?:\s*-\s*\d+)?)(?:\s*(?:,|and)\s*\d+(?:\s*-\s*\d+)?)*)", re.IGNORECASE)
SAME = {"mean": "sum", "partial": "sum", "average": "sum"}
GROUPED = re.compile(r"concat axis (-?\d+) in \d+ groups", re.IGNORECASE)  # each group of a fused tensor is cut
PERMUTED = re.compile(r"block|permut|fused|interleav|in \d+ groups", re.IGNORECASE)


def ranks_in(text):
    found = []
    for group in RANKS.findall(text):
        for part in re.split(r"\s*(?:,|and)\s*", group):
            first, _, last = part.partition("-")
            found += range(int(first), int(last or first) + 1)
    return found


def cuts_in(text, dimensions):
    """{(kind, axis)} of what is not a copy."""
    found = set()
    for kind, axis in KINDS.findall(GROUPED.sub(r"blocks axis \1", text)):
        kind = SAME.get(kind.lower(), kind.lower())
        if PERMUTED.match(kind):
            kind = "blocks"
        found.add((kind, None if kind == "sum" or not axis else int(axis) % max(dimensions, 1)))
    return found


def expected_cuts(layout):
    return {(SAME.get(cut["kind"], cut["kind"]), cut["axis"]) for cut in layout if cut["kind"] != "only"}


def is_cut(side):
    return bool(expected_cuts(side["layout"]))


def same_cuts(found, wanted, text):
    """A fused tensor of which each block is cut: a concatenation along that axis that is said not to be a plain one."""
    if found == wanted:
        return True
    plain = {("concat", axis) if kind == "blocks" else (kind, axis) for kind, axis in wanted}
    named = {cut for cut in found if cut[0] != "blocks"} or {("concat", axis) for _, axis in found}
    if plain != wanted:
        return bool(PERMUTED.search(text)) and named == plain
    # Two cuts along one axis may be told as one.
    zigzag = {axis for kind, axis in wanted if kind == "zigzag"}
    return found == {cut for cut in wanted if cut[0] == "zigzag" or cut[1] not in zigzag}


def right_ranks(ranks, side, sizes):
    where = cells(side["layout"], sizes)
    if any(rank not in where for rank in ranks) or {where[rank] for rank in ranks} != set(where.values()):
        return False
    order = list(dict.fromkeys(where[rank] for rank in ranks))
    return len(expected_cuts(side["layout"])) > 1 or order == sorted(order)


def is_right(row, tensor, sizes):
    """Of a row that pairs the right tensors."""
    text = row.get("layout") or ""
    text = text if isinstance(text, str) else str(text)
    ours, theirs = tensor["candidate"], tensor["reference"]
    dimensions = len(ours["shape"])
    found, wanted = cuts_in(text, dimensions), expected_cuts(ours["layout"]) | expected_cuts(theirs["layout"])
    if is_cut(ours) and is_cut(theirs):
        # Two sides that are cut alike may be paired rank by rank.
        same = expected_cuts(ours["layout"]) == expected_cuts(theirs["layout"])
        return same_cuts(found, wanted, text) or same and found <= wanted
    if not same_cuts(found, wanted, text):
        return False
    cut, size = (theirs, sizes[1]) if is_cut(theirs) else (ours, sizes[0])
    ranks = ranks_in(text) or row.get("ranks") or []
    if not ranks:
        return not wanted
    return right_ranks(ranks, cut, size) if wanted else all(rank in cells(cut["layout"], size) for rank in ranks)
