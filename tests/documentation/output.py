"""Does what was printed match what the page says? As in a doctest, but numbers match to the precision that is printed.

`0.97` stands for everything that rounds to it, so a page need not print 0.9666666. Sybil's and pytest's own `NUMBER`
allow a whole unit of the last digit: they take 3.15 for 3.14159. Here it is half a unit. Integers, and all that stands
between the numbers, match literally, and `...` matches anything.
"""

import doctest
import re
from decimal import Decimal

# A number with a decimal fraction or an exponent. Not one: the 1 of `fc1`, the 2.13 of `2.13.0`, the `3.` of a tensor.
_INTEGER = r"(?>\d{1,3}(?:,\d{3})+(?!\d)|\d+)"
FLOAT = re.compile(
    rf"(?<![\w.])(?:(?<!\w)[+-])?(?:(?>{_INTEGER}?\.\d+)|{_INTEGER}\.?(?=[eE][+-]?\d))(?:[eE][+-]?\d++)?(?!\.\d)"
)

# A number that touches `...` is a part of one, and literal: 0.97... is any 0.97xyz.
TOKEN = re.compile(rf"\.\.\.|{FLOAT.pattern}(?!\.\.\.)")


def same_number(want: str, got: str) -> bool:
    if (want[0] == "+", "," in want) != (got[0] == "+", "," in got):
        return False  # written in another form
    wanted, gotten = Decimal(want.replace(",", "")), Decimal(got.replace(",", ""))
    unit = Decimal(1).scaleb(wanted.as_tuple().exponent)  # of the last digit that is printed
    return abs(wanted - gotten) <= unit / 2


def matches(want: str, got: str) -> bool:
    segments, numbers, end = [""], [], 0  # what stands between the dots, as regular expressions
    for token in TOKEN.finditer(want):
        segments[-1] += re.escape(want[end : token.start()])
        end = token.end()
        if token[0] == "...":
            segments.append("")
        else:
            segments[-1] += f"({FLOAT.pattern})"
            numbers.append(token[0])
    segments[-1] += re.escape(want[end:])
    *before, last = segments
    # The first place will do for a segment (hence the atomic groups, or the time could explode), but for the last one.
    pattern = "(?>" + ")(?>.*?".join(before) + ").*?" + last if before else last
    found = re.fullmatch(pattern, got, re.DOTALL)
    return found is not None and all(map(same_number, numbers, found.groups()))


def first_difference(want: str, got: str) -> int:
    """The number of the first line of `want` that `got` does not have."""
    lines = want.splitlines(keepends=True)
    for number in range(1, len(lines) + 1):
        if not matches("".join(lines[:number]) + "...", got):
            return number
    return len(lines)


class OutputChecker(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        want, got = (re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE) for text in (want, got))
        return matches(re.sub(rf"^{doctest.BLANKLINE_MARKER}$", "", want, flags=re.MULTILINE), got)
