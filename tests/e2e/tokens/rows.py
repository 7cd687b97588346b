"""Whether the rows that msdump pairs are those of the same tokens."""


def judge_rows(answer, layout, candidate, reference):
    """(tensors whose rows are right, tensors with rows that both sides have)."""
    return 0, 0
