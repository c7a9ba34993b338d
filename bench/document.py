"""A keystroke in documents of 200 and 20,000 lines, beside pygls' own document in the same run."""

from collections.abc import Callable
from statistics import median
from time import perf_counter

from lsprotocol import types
from pygls.workspace import PositionCodec, TextDocument

from lsp_server.core.document import Change, Document
from lsp_server.core.text import Encoding, Position, Range

LINE = "    return some_function(value, other=None)  # é\n"
KEYSTROKES = 200


def ours(lines: int) -> Callable[[], None]:
    document = Document.open("file:///a.py", "python", 0, LINE * lines)
    place = Position(lines // 2, 8)
    change = Change(Range(place, place), "x")

    def keystroke() -> None:
        nonlocal document
        document, _ = document.apply([change], document.version + 1, Encoding.UTF16)

    return keystroke


def theirs(lines: int) -> Callable[[], None]:
    document = TextDocument(
        "file:///a.py", LINE * lines, position_codec=PositionCodec(types.PositionEncodingKind.Utf16)
    )

    def keystroke() -> None:
        place = types.Position(lines // 2, 8)
        change = types.TextDocumentContentChangePartial(text="x", range=types.Range(place, place))
        document.apply_change(change)

    return keystroke


def microseconds(keystroke: Callable[[], None]) -> float:
    """The median time of one keystroke."""
    times = []
    for _ in range(KEYSTROKES):
        start = perf_counter()
        keystroke()
        times.append(perf_counter() - start)
    return median(times) * 1e6


def main() -> None:
    for lines in (200, 20_000):
        mine, peer = microseconds(ours(lines)), microseconds(theirs(lines))
        print(f"{lines:6} lines: {mine:7.0f} µs a keystroke, pygls {peer:7.0f} µs, ratio {mine / peer:.3f}")


if __name__ == "__main__":
    main()
