"""What a planted fault is; cases.py and cases_more.py list them.

Operators are called by the end of their name in the final graph: "left-Left/Tanh-op0", or by two such ends where the
number moved ("reference -> candidate"), or "reference ->" and "-> candidate" where only one side has it.
Which kinds there are is in msdump's documentation of first_divergence: value, nan, shape, missing, parameter, input.
"""
from dataclasses import dataclass, field


@dataclass
class Root:
    """One fault. Any of its operators or parameters is a right answer."""

    kinds: tuple
    operators: tuple = ()
    parameters: tuple = ()


@dataclass
class Case:
    name: str
    net: str
    what: str
    changes: tuple = ()  # (old, new), each in one line
    roots: tuple = ()
    also: tuple = ()  # operators that are no wrong answer, but need not be named
    steps: int = 1
    first_step: int = 0
    delete: tuple = ()  # (operator, io, slot) of files that the candidate lacks; a slot of None: all of them
    measured_at: str = ""  # the operator whose inputs show the fault, where an operator is new or missing
    environment: dict = field(default_factory=dict)  # of the candidate: other threads, other kernels
    noise: float = 0.0  # relative, of all weights: the walk to the bit finds nothing then
    structure: bool = False  # operators are new or missing
    rewired: bool = False  # the same operators with other inputs: the walk sees no inputs that agree
    seen: dict = field(default_factory=dict)  # "bad", "bad_f16": can it be seen; else measured
    exit_codes: tuple = (1,)
    ambiguous: str = ""  # why another answer could be defended


def value(*operators):
    return Root(("value",), operators)
