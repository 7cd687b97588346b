"""Which part of a logical tensor each rank has. Ranks count tp fastest, then cp, ep, dp, pp."""
AXES = ("tp", "cp", "ep", "dp", "pp")


def count_of(sizes):
    count = 1
    for size in sizes.values():
        count *= size
    return count


def place_of(rank, sizes):
    place = {}
    for axis in AXES:
        place[axis] = rank % sizes.get(axis, 1)
        rank //= sizes.get(axis, 1)
    return place


def cells(layout, sizes):
    """{rank: its place among the parts, a number for each cut}; ranks that do not have the tensor are not in it."""
    found = {}
    for rank in range(count_of(sizes)):
        place = place_of(rank, sizes)
        if all(place[cut["over"]] == cut["place"] for cut in layout if cut["kind"] == "only"):
            found[rank] = tuple(place[cut["over"]] for cut in layout if cut["kind"] != "only")
    return found
