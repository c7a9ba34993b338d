"""Search/replace blocks: taken from a reply, and looked up in the code."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.edits import Edit, apply
from lsp_server.core.hunks import Hunk, HunkParser, Refusal, locate, marker_width, occurrences
from lsp_server.core.text import Span
from tests.support.marked import parse


def block(search: str, replace: str, width: int = 7) -> str:
    return f"{'<' * width} SEARCH\n{search}{'=' * width}\n{replace}{'>' * width} REPLACE\n"


def hunk(search: str, replace: str) -> Hunk:
    """As the parser gives it: every line ended."""
    return Hunk(*(text + "\n" if text and not text.endswith("\n") else text for text in (search, replace)))


def check(source: str, search: str, replace: str, result: str) -> None:
    """Replacing `search` in `source` gives `result`; a cursor or selection says which place is meant."""
    marked = parse(source)
    edit = locate(marked.text, hunk(search, replace), marked.cursor, marked.selection)
    assert isinstance(edit, Edit), edit
    assert apply(marked.text, [edit]) == result


def check_refused(source: str, search: str, replace: str, *words: str) -> None:
    marked = parse(source)
    refusal = locate(marked.text, hunk(search, replace), marked.cursor, marked.selection)
    assert isinstance(refusal, Refusal)
    for word in words:
        assert word in refusal.sentence


def test_exact_lines_are_replaced() -> None:
    check("a\nb\nc\n", "b\n", "B\nB2\n", "a\nB\nB2\nc\n")
    check("a\nb\nc", "c", "C", "a\nb\nC")
    check("a\nb\nc", "b\nc", "c", "a\nc")
    check("a\nb\nc\n", "b", "", "a\nc\n")
    check("a\nb\nc", "a\nb\nc", "", "")


def test_B70_only_the_statement_changes() -> None:
    head = "title = “A” — B  \nname = 'cafe\u0301'\n\ndef f():\n"
    check(f"{head}    x  =  1\n    return x\n", "x = 1", "x = 100", f"{head}    x = 100\n    return x\n")


def test_B70_lines_that_the_hunk_repeats_stay_as_they_are() -> None:
    source = "def f():  \n\tx  =  1\n\treturn x \n"
    check(
        source,
        "def f():\n    x = 1\n    return x\n",
        "def f():\n    x = 2\n    return x\n",
        "def f():  \n\tx = 2\n\treturn x \n",
    )
    check_refused("s = 'a  b'\n", "s = 'a b'", "s = 'c'", "is not in the code")


def test_B71_two_identical_blocks() -> None:
    source = "def a():\n    n = 0\n    go(n)\n\ndef b():\n    n = 0\n    go(n)<|>\n"
    changed = "def a():\n    n = 0\n    go(n)\n\ndef b():\n    n = 1\n    go(n)\n"
    check(source, "n = 0\n    go(n)", "n = 1\n    go(n)", changed)
    in_scope = source.replace("def b", "<[def b").replace("<|>", "]>")
    check(in_scope, "n = 0\n    go(n)", "n = 1\n    go(n)", changed)
    check_refused(source.replace("<|>", ""), "n = 0\n    go(n)", "n = 1\n    go(n)", "`n = 0` fits 2 places")
    check_refused("k\nk\nk\n", "k\nk", "j", "fits 2 places")


def test_B73_another_inside_is_refused() -> None:
    check_refused(
        "begin\nlimit = 5\nend\n",
        "begin\nlimit = 7\nend",
        "begin\nlimit = 8\nend",
        "`limit = 7`",
        "`limit = 5`",
    )
    check_refused("a\nb\n", "b\nc", "x", "`c` after `b`", "ends")
    check_refused("a\nb\n", "x\ny", "z", "`x` is not in the code")
    check_refused("a\n", "", "b", "did not say which lines")


def test_B74_the_new_text_is_literal() -> None:
    new = r'p = "$& $1 $$ \1 \g<0> %s {0} \n"'
    check("p = cost\n", "p = cost", new, new + "\n")


def test_B75_line_ends_of_the_document() -> None:
    check("one\r\ntwo\r\nthree\r\n", "two\n", "TWO\n2b\n", "one\r\nTWO\r\n2b\r\nthree\r\n")
    check("one\r\ntwo\r\nthree\r\n", "two\r\n", "TWO\r\n2b\r\n", "one\r\nTWO\r\n2b\r\nthree\r\n")
    check("a\r\nb\r\nc\nd\r\n", "b\nc\nd", "b\nx\nc\nd", "a\r\nb\r\nx\r\nc\nd\r\n")
    check("a\r\nb", "b", "B\nC", "a\r\nB\r\nC")


@pytest.mark.parametrize("line", ["# ... rest unchanged ...", "// ... existing code ..."])
def test_B79_placeholders_are_refused(line: str) -> None:
    check_refused("a()\nb()\n", "a()", f"a(1)\n{line}", "left code out", line)
    check_refused("a()\nb()\n", f"a()\n{line}", "a(1)", "left code out", line)
    check(f"a()\n{line}\n", f"a()\n{line}", f"a(1)\n{line}", f"a(1)\n{line}\n")


@pytest.mark.parametrize(
    ("source", "search", "replace", "result"),
    [
        ("    if a:\n        b()\n", "if a:\n    b()", "if a:\n    b()\n    c()",
         "    if a:\n        b()\n        c()\n"),
        ("\tif a:\n\t\tb()\n", "if a:\n    b()", "if a:\n    if d:\n        b()",
         "\tif a:\n\t\tif d:\n\t\t\tb()\n"),
        ("\t\tb()\n", "        b()", "        if d:\n            b()", "\t\tif d:\n\t\t\tb()\n"),
        ("  if a\n    b\n  end\n", "\tif a\n\t\tb\n\tend", "\tif a\n\t\tif c\n\t\t\tb\n\t\tend\n\tend",
         "  if a\n    if c\n      b\n    end\n  end\n"),
        ("    a()\n\n    b()\n", "a()\n\nb()", "a()\n\nb(1)", "    a()\n\n    b(1)\n"),
        ("    n = 0\n    go(n)\n", "n = 0\n    go(n)", "n = 0\n    if n:\n        go(n)",
         "    n = 0\n    if n:\n        go(n)\n"),
        ("        return a\n", "    return a", "    if b:\n        return a\nreturn c",
         "        if b:\n            return a\n    return c\n"),
    ],
)  # fmt: skip
def test_other_indentation_is_that_of_the_place(source: str, search: str, replace: str, result: str) -> None:
    check(source, search, replace, result)


def test_other_nesting_is_refused() -> None:
    check_refused("if a:\n    b()\nc()\n", "if a:\n    b()\n    c()", "pass", "nested in another way")
    check_refused("x:\n  y:\n  z:\n", "  x:\n  y:\n    z:", "q", "nested in another way")


def test_exact_lines_win_over_similar_ones() -> None:
    check("    x = 1\nx = 1\n", "x = 1", "x = 2", "    x = 1\nx = 2\n")


class Counted(str):
    """A line that counts how often it is compared."""

    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        Counted.comparisons += 1
        return str.__ne__(self, other)

    __hash__ = str.__hash__


@pytest.mark.parametrize("last", ["    total += row\n", "    total += now\n"])
def test_B125_a_search_is_linear(last: str) -> None:
    lines = [Counted("    total += row\n")] * 20_000
    wanted = [Counted("    total += row\n")] * 39 + [Counted(last)]
    Counted.comparisons = 0
    found = occurrences(lines, wanted)
    assert len(found) == (19_961 if last == lines[0] else 0)
    assert Counted.comparisons <= 5 * (len(lines) + len(wanted))


def test_B125_a_miss_in_a_long_file_is_refused() -> None:
    text = "".join(f"    total += row{number % 7}\n" for number in range(20_000))
    search = "".join(f"    total += row{number % 7}\n" for number in range(39)) + "    total += rows\n"
    check_refused(text, search, "pass", "`total += rows`")


@given(st.lists(st.sampled_from("ab"), max_size=30), st.lists(st.sampled_from("ab"), min_size=1, max_size=4))
def test_occurrences_are_all_and_only_those(items: list[str], wanted: list[str]) -> None:
    expected = [at for at in range(len(items)) if items[at : at + len(wanted)] == wanted]
    assert occurrences(items, wanted) == expected


@given(st.lists(st.sampled_from(["a", "  b", "", "c ", "\td"]), min_size=1, max_size=8), st.data())
def test_an_edit_touches_its_lines_only(lines: list[str], data: st.DataObject) -> None:
    newline = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = newline.join(lines)
    start = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(start + 1, len(lines)))
    search = "".join(line + "\n" for line in lines[start:end])
    replace = data.draw(st.lists(st.sampled_from(["x", "  y"]), max_size=3))
    edit = locate(text, Hunk(search, "".join(line + "\n" for line in replace)), newline=newline)
    if isinstance(edit, Edit):
        kept = newline.join([*lines[:start], *replace, *lines[end:]])
        assert apply(text, [edit]).rstrip("\r\n") == kept.rstrip("\r\n")


def test_a_hunk_comes_out_as_soon_as_it_is_closed() -> None:
    parser = HunkParser()
    assert parser.push("Here it is:\n```python\n<<<<<<< SEARCH\na\n=======\n") == []
    assert parser.unfinished
    assert parser.push("b\n>>>>>>> REPLACE\n<<<<<<< SEAR") == [Hunk("a\n", "b\n")]
    assert parser.push("CH\nc\n=======\n>>>>>>> REPLACE") == []
    assert parser.finish() == [Hunk("c\n", "")]
    assert not parser.unfinished
    assert parser.dropped == "Here it is:"


def test_a_hunk_that_is_not_closed_does_not_come_out() -> None:
    parser = HunkParser()
    assert parser.push("<<<<<<< SEARCH\na\n=======\nb\n") + parser.finish() == []
    assert parser.unfinished


def test_B118_markers_of_the_document_are_text() -> None:
    text = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    width = marker_width(text)
    assert width > marker_width("a\n") == 7
    parser = HunkParser(width)
    assert parser.push(block(text, "c\n", width)) == [Hunk(text, "c\n")]
    assert marker_width("x\n" + "=" * 30) == 31


@given(
    st.lists(
        st.sampled_from([block("a\n", "b\n"), "text\n", "```\n", "<<<<<<< SEARCH\n", "=======\n", "\r\n"])
    ),
    st.data(),
)
def test_the_pieces_do_not_matter(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)) | {0, len(text)})
    whole, cut = HunkParser(), HunkParser()
    expected = whole.push(text) + whole.finish()
    found = [hunk for start, end in pairwise(cuts) for hunk in cut.push(text[start:end])]
    assert found + cut.finish() == expected
    assert (cut.dropped, cut.unfinished) == (whole.dropped, whole.unfinished)


def test_the_scope_bounds_the_choice() -> None:
    text = "x\ny\nx\n"
    assert locate(text, Hunk("x\n", "z\n"), None, Span(2, 6)) == Edit(4, 6, "z\n")
