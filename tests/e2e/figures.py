"""How often `msdump diff` is right, by net, form and evidence, with 95 % intervals, each half of the cases apart: of the
half that is held counts alone are told. The checks of planted, msprobe and parallel add what they asked."""
import collections
import math

KEYS = ("cases", "first", "passed", "silent", "innocent", "right pairs", "pairs silent", "innocent there")


def interval(hits, cases):
    """Wilson's, in per cent."""
    if not cases:
        return ""
    share, z = hits / cases, 1.96
    middle = share + z * z / (2 * cases)
    width = z * math.sqrt(share * (1 - share) / cases + z * z / (4 * cases * cases))
    low, high = ((middle + side * width) / (1 + z * z / cases) for side in (-1, 1))
    return f"{hits}/{cases} {100 * share:.0f} % ({100 * max(low, 0):.0f}-{100 * min(high, 1):.0f})"


class Figures:
    def __init__(self):
        self.rows = collections.defaultdict(collections.Counter)
        self.said = collections.defaultdict(collections.Counter)  # by half, evidence, rule and confidence: all roots

    def add(self, half, net, form, is_fault, roots):
        """`roots`: (right, wrong or neither as True, False, None; the object of `diff --json`) of each."""
        verdicts = [right for right, _ in roots]
        innocent = verdicts.count(False) if is_fault else len(roots)
        first = verdicts[:1] == [True]
        found = {"cases": 1, "first": first, "passed": first and not innocent, "silent": not roots, "innocent": innocent
                 } if is_fault else {"right pairs": 1, "pairs silent": not roots, "innocent there": innocent}
        for row in ("all", f"net {net}", f"form {form}"):
            self.rows[half, row].update({key: int(number) for key, number in found.items()})
        for place, (right, root) in enumerate(roots):
            kind = root["decided_by"]
            if right is not None:
                self.said[half, kind, root["rule"], root["confidence"]].update({"right": int(is_fault and right), "named": 1})
            self.rows[half, f"decided by {kind}"].update({
                "first": int(is_fault and place == 0 and right is True), "cases": int(is_fault and place == 0),
                "innocent": int(is_fault and right is False), "innocent there": int(not is_fault)})

    def write(self):
        """A row by evidence counts the cases whose first root it decided, and all innocents that it named; the last rows
        count all roots, those of right pairs among them, by rule and the confidence that it is told with."""
        for half in dict.fromkeys(half for half, _ in self.rows):
            print(f"{half:<42}" + "".join(f"{key:>15}" for key in KEYS))
            for (which, title), row in sorted(self.rows.items(), key=lambda one: one[0][1]):
                if which == half:
                    first = interval(row["first"], row["cases"])
                    silent = interval(row["pairs silent"], row["right pairs"])
                    print(f"  {title:<40}" + "".join(f"{row[key]:>15}" for key in KEYS) + f"   {first}   {silent}")
            for (which, kind, rule, confidence), row in sorted(self.said.items()):
                if which == half:
                    print(f"  {kind}, {rule} at {confidence:.2f}: right in {interval(row['right'], row['named'])}")
