"""What streamed edits touch and cost on 100 function changes of real public history.

Each change is replayed as a model's reply, as whole scope and as hunks, clean and with the dirt that models
add. "Touched" are characters written and deleted, beside the smallest line diff with the same inner
trimming. A token counts as four characters.
"""

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from statistics import median
from textwrap import dedent
from time import perf_counter

from bench.harness.history import Change, changes
from lsp_server.core.document import Document
from lsp_server.core.edits import Edit, apply, common_prefix, common_suffix
from lsp_server.core.syntax.languages import language_of
from lsp_server.core.syntax.scope import Scope, scope_at
from lsp_server.core.syntax.tree import SyntaxTree
from lsp_server.core.text import Span, split_lines
from lsp_server.engine.errors import EditRefused
from lsp_server.engine.pace import PATCH_INTERVAL, joined
from lsp_server.engine.rewrite import HunkRewriter, Listener, ScopeRewriter

COUNT = 100
TOKEN = 4
CONTEXT = 1
RATES = (1_200, 10_000)
"""Tokens a second at which the edits of one patch interval go out together."""
INSTRUCTION = "Bring this function up to date."

Rewriter = ScopeRewriter | HunkRewriter


def clean(change: Change) -> str:
    return f"{change.new}\n"


def fenced(change: Change) -> str:
    return f"```python\n{change.new}\n```\n"


def prose(change: Change) -> str:
    return f"Sure! Here is the updated function:\n\n{fenced(change)}\nIt now does what you asked for.\n"


def echo(change: Change) -> str:
    return f"{INSTRUCTION}\n{fenced(change)}"


def at_left_edge(change: Change) -> str:
    return f"```python\n{dedent(change.new)}\n```\n"


def without_decorators(change: Change) -> str:
    return f"```python\n{change.new.removeprefix(change.lead)}\n```\n"


def crlf(change: Change) -> str:
    return fenced(change).replace("\n", "\r\n")


def whole_file(change: Change) -> str:
    end = change.start + len(change.old)
    return f"```python\n{change.file[: change.start]}{change.new}{change.file[end:]}```\n"


def hunks(change: Change) -> str:
    """Each place that changes, with as many lines around it as make it unique."""
    old, new = change.old.split("\n"), change.new.split("\n")
    blocks: list[str] = []
    for _, start, end, first, last in regions(old, new):
        while count_of(old, old[start:end]) != 1 and (start > 0 or end < len(old)):
            start, first = (start - 1, first - 1) if start > 0 else (start, first)
            end, last = (end + 1, last + 1) if end < len(old) else (end, last)
        body = "\n".join(["<<<<<<< SEARCH", *old[start:end], "=======", *new[first:last], ">>>>>>> REPLACE"])
        blocks.append(body)
    return "\n".join(blocks) + "\n"


def hunks_in_prose(change: Change) -> str:
    return f"Here are the edits:\n\n```\n{hunks(change)}```\nDone.\n"


def regions(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT)
    return [("", group[0][1], group[-1][2], group[0][3], group[-1][4]) for group in groups]


def count_of(lines: Sequence[str], block: Sequence[str]) -> int:
    return sum(lines[row : row + len(block)] == block for row in range(len(lines) - len(block) + 1))


def replay(change: Change, reply: str, kind: str, flush: int | None = None) -> tuple[str, list[Edit], float]:
    """The file after the reply, the edits that led there, and the seconds that took.

    With `flush` the edits of so many tokens go out together, joined as for a client that groups undo.
    """
    document = Document.open("file:///bench.py", "python", 1, change.file)
    scope = scope_of(document, change)
    old = document.slice(scope.span.start, scope.span.end)
    listener = Listener("hunks" if kind == "hunks" else "scope", old, INSTRUCTION)
    rewriter: Rewriter = (
        HunkRewriter(old, document)
        if kind == "hunks"
        else ScopeRewriter(old, document, scope, lead=old[: scope.lead], instruction=INSTRUCTION)
    )
    began, edits, screen = perf_counter(), list[Edit](), old
    ready: list[Edit] = []
    for count, start in enumerate(range(0, len(reply), TOKEN), 1):
        ready += rewriter.push(listener.push(reply[start : start + TOKEN]))
        if flush and count % flush == 0:
            edits += joined(screen, ready)
            screen, ready = rewriter.screen, []
        if listener.complete:
            break
    ready += rewriter.push(listener.finish())
    ready += rewriter.finish()
    edits += joined(screen, ready) if flush else ready
    took = perf_counter() - began
    after = change.file[: scope.span.start] + apply(old, edits) + change.file[scope.span.end :]
    return after, edits, took


def scope_of(document: Document, change: Change) -> Scope:
    language = language_of("python")
    assert language is not None
    header = change.start + len(change.old) - len(change.old.lstrip())
    return scope_at(document, SyntaxTree(language), Span(header, header))


def smallest(old: str, new: str) -> int:
    """Characters that a minimal line diff touches whose hunks are trimmed at their two ends.

    Minimal: the lines that are left alone hold as many characters as they can.
    """
    before, after = split_lines(old), split_lines(new)
    table = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for one in reversed(range(len(before))):
        for two in reversed(range(len(after))):
            same = len(before[one]) + table[one + 1][two + 1] if before[one] == after[two] else 0
            table[one][two] = max(same, table[one + 1][two], table[one][two + 1])
    total = one = two = 0
    gone, come = "", ""
    while one < len(before) or two < len(after):
        if one < len(before) and table[one + 1][two] == table[one][two]:
            gone, one = gone + before[one], one + 1
        elif two < len(after) and table[one][two + 1] == table[one][two]:
            come, two = come + after[two], two + 1
        else:
            total, gone, come = total + trimmed(gone, come), "", ""
            one, two = one + 1, two + 1
    return total + trimmed(gone, come)


def cheapest(old: str, new: str) -> int:
    """Characters that the cheapest alignment touches in which a line may also be trimmed against a line."""
    before, after = split_lines(old), split_lines(new)
    costs = [0]
    for line in after:
        costs.append(costs[-1] + len(line))
    for line in before:
        above, costs = costs, [costs[0] + len(line)]
        for row, other in enumerate(after):
            changed = above[row] + trimmed(line, other)
            costs.append(min(above[row + 1] + len(line), costs[row] + len(other), changed))
    return costs[-1]


def trimmed(gone: str, come: str) -> int:
    start = common_prefix(gone, come)
    end = common_suffix(gone[start:], come[start:])
    return len(gone) + len(come) - 2 * (start + end)


def row(
    name: str, make: Callable[[Change], str], every: Sequence[Change], kind: str, flush: int | None = None
) -> None:
    exact = other = refused = count = 0
    seconds, ratios, strict, tokens = 0.0, list[float](), list[float](), 0
    for change in every:
        reply = make(change)
        tokens += -(-len(reply) // TOKEN)
        try:
            after, edits, took = replay(change, reply, kind, flush)
        except EditRefused:
            refused += 1
            continue
        end = change.start + len(change.old)
        wanted = change.file[: change.start] + change.new + change.file[end:]
        exact, other = exact + (after == wanted), other + (after != wanted)
        count, seconds = count + len(edits), seconds + took
        touched = sum(edit.size for edit in edits)
        ratios.append(touched / max(1, smallest(change.old, change.new)))
        strict.append(touched / max(1, cheapest(change.old, change.new)))
    ratios.sort()
    p95 = ratios[len(ratios) * 95 // 100]
    print(
        f"{name:20} {exact:5} {other:6} {refused:8} {sum(ratios) / len(ratios):8.2f} {median(ratios):7.2f} "
        f"{p95:6.2f} {sum(strict) / len(strict):7.2f} {count:6,} {count / seconds:9,.0f} {tokens:8,}"
    )


def main() -> None:
    every = changes(COUNT)
    print(f"{len(every)} changes; touched: times the minimal line diff; strict: times the cheapest alignment")
    print(
        "reply                exact  other  refused  touched  median    p95  strict  edits   edits/s   tokens"
    )
    for make in (clean, fenced, prose, echo, at_left_edge, crlf, whole_file):
        row(make.__name__, make, every, "scope")
    decorated = [change for change in every if change.lead and change.old.startswith(change.lead)]
    row(f"undecorated ({len(decorated)})", without_decorators, decorated, "scope")
    for make in (hunks, hunks_in_prose):
        row(make.__name__, make, every, "hunks")
    for rate in RATES:
        row(f"clean, {rate:,}/s", clean, every, "scope", round(rate * PATCH_INTERVAL))
    long = [change for change in every if len(change.old.splitlines()) >= 40]
    ratio = sum(len(hunks(each)) for each in long) / sum(len(clean(each)) for each in long)
    print(f"hunks take {ratio:.0%} of the tokens in the {len(long)} functions of 40 lines or more")


if __name__ == "__main__":
    main()
