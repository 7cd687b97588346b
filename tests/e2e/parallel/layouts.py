"""Whether what msdump says of a layout is what the code did.

Its text: "concat axis 1 of ranks 0-3"; of several dimensions of the mesh the fastest first, with their extents, as in
"concat axis 2 in 3 blocks by 2, copy by 2 of ranks 0-3". Null: one rank, which `ranks` names. What counts: the kinds and
axes that are named, copies left out, and ranks that have the tensor and have all of its parts, in their order.
"""
import re

from mesh import cells

CUT = re.compile(r"(concat|zigzag|sum|mean|max|copy|gathered)(?: axis (\d+))?( in .*block)?")
SAME = {"mean": "sum"}


def ranks_in(text):
    found = []
    for part in text.partition(" of ranks ")[2].partition(", times")[0].split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1) if first else ()
    return found


def cuts_in(text):
    """{(kind, axis)} of what is not a copy."""
    found = set()
    for part in text.partition(" of ranks ")[0].split(", "):
        cut = CUT.match(part)
        if not cut or cut[1] in ("copy", "gathered"):
            continue
        kind = "blocks" if cut[3] else SAME.get(cut[1], cut[1])
        found.add((kind, int(cut[2]) if cut[2] else None))
    return found


def expected_cuts(layout):
    return {(SAME.get(cut["kind"], cut["kind"]), cut["axis"]) for cut in layout if cut["kind"] != "only"}


def is_cut(side):
    return bool(expected_cuts(side["layout"]))


def same_cuts(found, wanted):
    """Of a fused tensor whose blocks are cut one by one, or one axis that is several, the blocks may be smaller."""
    if found == wanted:
        return True
    # Two cuts along one axis may be told as one.
    zigzag = {axis for kind, axis in wanted if kind == "zigzag"}
    return found == {cut for cut in wanted if cut[0] == "zigzag" or cut[1] not in zigzag}


def right_ranks(ranks, side, sizes):
    where = cells(side["layout"], sizes)
    if any(rank not in where for rank in ranks) or {where[rank] for rank in ranks} != set(where.values()):
        return False
    order = list(dict.fromkeys(where[rank] for rank in ranks))
    cuts = expected_cuts(side["layout"])
    return len(cuts) > 1 or all(kind == "sum" for kind, _ in cuts) or order == sorted(order)


def is_right_side(text, ranks, side, size):
    found, wanted = cuts_in(text), expected_cuts(side["layout"])
    if not same_cuts(found, wanted):
        return False
    ranks = ranks_in(text) or ranks
    if not ranks:
        return not wanted
    return right_ranks(ranks, side, size) if wanted else all(rank in cells(side["layout"], size) for rank in ranks)


def is_right(row, tensor, sizes):
    """Of a row that pairs the right tensors."""
    if row.get("layout_confidence") is None:
        return False
    ours, theirs = tensor["candidate"], tensor["reference"]
    if not is_right_side(row.get("layout") or "", row.get("ranks") or [], ours, sizes[0]):
        return False
    return not sizes[1] or is_right_side(row.get("reference_layout") or "", [], theirs, sizes[1])
