"""Whether what `msdump next` pins is the fault."""
from cases import script_of
from results import calls_of
from truth import is_right, lines_of, markers


def rights(case, level, pinned):
    """Of each entry whether it is the fault. `level`: of the last dump."""
    named = markers(script_of(case.net))
    lines = {named[line] for line in lines_of(case.fault, level)} if case.fault else set()
    return [bool(case.fault) and any(is_right(one, case.fault, level, lines) for one in calls_of(entry))
            for entry in pinned]
