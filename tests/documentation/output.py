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


def same_number(want: str, got: str) -> bool:
    if (want[0] == "+", "," in want) != (got[0] == "+", "," in got):
        return False  # written in another form
    wanted, gotten = Decimal(want.replace(",", "")), Decimal(got.replace(",", ""))
    unit = Decimal(1).scaleb(wanted.as_tuple().exponent)  # of the last digit that is printed
    return abs(wanted - gotten) <= unit / 2


def _parts(segment: str, after_dots: bool, before_dots: bool) -> list[str | re.Match]:
    """Literal texts and numbers. A number that touches `...` is a part of one, and literal: 0.97... is any 0.97xyz."""
    parts, end = [], 0
    for number in FLOAT.finditer(segment):
        if (after_dots and number.start() == 0) or (before_dots and number.end() == len(segment)):
            continue
        parts += [segment[end : number.start()], number]
        end = number.end()
    return [*parts, segment[end:]]


def _end_of(parts: list[str | re.Match], got: str, position: int) -> int | None:
    """Where the parts end in `got` if they stand at `position`."""
    for part in parts:
        if isinstance(part, str):
            if not got.startswith(part, position):
                return None
            position += len(part)
        else:
            number = FLOAT.match(got, position)
            if number is None or not same_number(part.group(), number.group()):
                return None
            position = number.end()
    return position


def matches(want: str, got: str, ellipsis: bool = True) -> bool:
    segments = want.split("...") if ellipsis else [want]
    last = len(segments) - 1
    position = 0
    for index, segment in enumerate(segments):
        parts = _parts(segment, after_dots=index > 0, before_dots=index < last)
        starts = range(position, len(got) + 1) if index else [0]
        ends = (end for start in starts if (end := _end_of(parts, got, start)) is not None)
        # The first place will do for a segment between dots; the last segment must reach the end.
        end = next((end for end in ends if index < last or end == len(got)), None)
        if end is None:
            return False
        position = end
    return True


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
        if not optionflags & doctest.DONT_ACCEPT_BLANKLINE:
            want = re.sub(rf"^{doctest.BLANKLINE_MARKER}$", "", want, flags=re.MULTILINE)
        if optionflags & doctest.NORMALIZE_WHITESPACE:
            want, got = (" ".join(text.split()) for text in (want, got))
        return matches(want, got, bool(optionflags & doctest.ELLIPSIS))
