"""What of a reply is code, whatever the pieces that it comes in."""

from itertools import pairwise
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.reply import CONTROL_TOKENS, ReplyFilter, Runaway, placeholder_in

Kind = Literal["completion", "scope", "hunks"]
ORIGINAL = "def f():\n    return 1"


def check(
    reply: str, code: str, kind: Kind = "completion", original: str = "", sentinel: str = ""
) -> ReplyFilter:
    """`reply` gives `code`: as one piece, cut in two at each place, and character by character."""
    for pieces in [[reply], *([reply[:cut], reply[cut:]] for cut in range(1, len(reply))), list(reply)]:
        machine = ReplyFilter(kind, original, sentinel=sentinel)
        assert "".join(map(machine.push, pieces)) + machine.finish() == code, pieces
    return machine


KINDS: list[Kind] = ["completion", "scope", "hunks"]


@pytest.mark.parametrize("kind", KINDS)
def test_plain_code_passes_unchanged(kind: Kind) -> None:
    code = "def f():\r\n    x = a < b <| c\r\n\r\n    return `x`  # <b>\r\n"
    assert check(code, code, kind).dropped == ""


@pytest.mark.parametrize("kind", ["completion", "scope"])
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("```python\nreturn 1\n```", "return 1\n"),
        ("```\nreturn 1\n```\n", "return 1\n"),
        ("\n  ```py\nreturn 1\n  ```\n", "return 1\n"),
        ("````\n```\nreturn 1\n````", "```\nreturn 1\n"),
        ("Here is the new code:\n\n```python\nreturn 1\n```\n\nI changed the number.", "return 1\n"),
        ("Sure!\n```python title=a.py\nreturn 1\n```", "return 1\n"),
        ("```python\nreturn 1\n```\nAnd in b.py:\n```python\nreturn 2\n```\n", "return 1\n"),
        ("```python\ns = '''\n```sh\nls\n```\n'''\n```", "s = '''\n```sh\nls\n```\n'''\n"),
        ("```python\nreturn 1", "return 1"),
        ("```python\nreturn 1\n``", "return 1\n"),
        ("return 1\n```\nThat is all.", "return 1\n"),
        ("    return 1\n", "    return 1\n"),
        ("\n    return 1\n", "\n    return 1\n"),
        ("<think>\nhm\n</think>\n\n```python\nreturn 1\n```", "return 1\n"),
        ("```python\nreturn 1\n```<|im_end|>", "return 1\n"),
        ("```python\r\nreturn 1\r\n```\r\n", "return 1\r\n"),
        ("Point = namedtuple('Point', 'x y')\n", "Point = namedtuple('Point', 'x y')\n"),
        ("Foo(bar)", "Foo(bar)"),
    ],
)
def test_fences_and_the_prose_around_them(kind: Kind, reply: str, code: str) -> None:
    check(reply, code, kind)


def test_B119_what_is_outside_the_fence_is_dropped_and_reported() -> None:
    machine = check("Here you are:\n```\nx\n```\nNow run `rm -rf /`.\n", "x\n", "scope")
    assert machine.dropped == "Here you are:\nNow run `rm -rf /`."
    assert machine.closed and machine.ended


def test_prose_alone_is_no_edit_but_may_complete_a_sentence() -> None:
    prose = "I cannot change this function.\nIt is not complete, and\n- it calls `foo()`\n"
    machine = check(prose, "", "scope", ORIGINAL)
    assert machine.empty and machine.dropped == prose.strip()
    check(prose, prose, "completion")


def test_code_without_a_fence_may_have_a_sentence_in_front() -> None:
    machine = check(
        "Here is the new function:\n\ndef f():\n    return 2\n", "def f():\n    return 2\n", "scope", ORIGINAL
    )
    assert machine.dropped == "Here is the new function:"
    check(
        "Return the sum of it all.\n", "Return the sum of it all.\n", "scope", "Return the sum of it all.\n"
    )


def test_fences_of_the_document_are_text() -> None:
    original = "# Use\n\n```\nls\n```\n\nEnd\n"
    text = "# Use it\n\n```\nls -l\n```\n\nEnd\n"
    check(f"````markdown\n{text}````\n", text, "scope", original)
    assert check(f"```markdown\n{text}```\nDone.", text, "scope", original).dropped == "Done."


@pytest.mark.parametrize("kind", KINDS)
def test_B10_control_tokens_end_the_text(kind: Kind) -> None:
    for token in CONTROL_TOKENS:
        check(f"return a{token}junk", "return a", kind)
    check("<|fim_middle|>return a<|endoftext|>", "return a", kind)
    assert check("<|endoftext|>return a", "", kind).ended
    check("a <| b\n<|", "a <| b\n<|", kind)
    check("x<|fim_pa", "x<|fim_pa", kind)


@pytest.mark.parametrize("kind", KINDS)
def test_B10_control_tokens_of_the_document_are_text(kind: Kind) -> None:
    code = 'PAD = "<|fim_pad|>"\nEND = 1\n'
    check(code, code, kind, original=code)


@pytest.mark.parametrize("kind", KINDS)
def test_B10_the_sentinel_is_no_edit(kind: Kind) -> None:
    machine = check("<<NO_EDIT>>", "", kind, sentinel="<<NO_EDIT>>")
    assert machine.no_edit and machine.empty and not machine.deletes
    assert not check("<<NO_EDIT>> x", "<<NO_EDIT>> x", kind, sentinel="<<NO_EDIT>>").no_edit


@pytest.mark.parametrize("kind", KINDS)
def test_B11_reasoning_is_not_code(kind: Kind) -> None:
    check("<think>use plus</think>\n\n    return a + b", "    return a + b", kind)
    check("\n<thinking>a</thinking><think>b</think>x", "x", kind)
    assert check("<think>use plus\nreturn a + b", "", kind).empty
    check("<thing>\n</thing>", "<thing>\n</thing>", kind)
    check("x = '<think>'\n", "x = '<think>'\n", kind)
    check("<think>\n</think>\n", "<think>\n</think>\n", kind, original="<think>\n  a\n</think>")


def test_B79_a_placeholder_never_comes_out() -> None:
    reply = "```python\ndef f():\n    a = 2\n    # ... rest of the code unchanged ...\n    return a\n```"
    machine = check(reply, "def f():\n    a = 2\n", "scope", ORIGINAL)
    assert machine.placeholder == "# ... rest of the code unchanged ..." and machine.ended
    kept = "def f():\n    # ... rest of the code unchanged ...\n    return 2\n"
    assert check(kept, kept, "scope", kept).placeholder is None


@pytest.mark.parametrize(
    "line",
    [
        "# ... rest of the code unchanged ...",
        "// ... existing code ...",
        "/* ... */",
        "{/* ... existing code ... */}",
        "<!-- ... rest of the file ... -->",
        "-- ... remaining code ...",
        "# …",
        "// rest of the function remains the same",
        "# (unchanged)",
        "# existing code here",
        "# The rest of the code stays the same.",
        "// Same as before",
        "# code omitted for brevity",
        "return x;  // ... rest unchanged",
        "...",
    ],
)
def test_lines_that_stand_for_code(line: str) -> None:
    assert placeholder_in(f"a()\n    {line}\n", "a()\nb()\n") == f"    {line}"
    assert placeholder_in(f"a()\n    {line}\n", f"{line}\n") is None


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    ...\n",
        "# Wait for the rest...\n",
        "# Loading...\n",
        "# Keep the remaining items unchanged while the lock is held.\n",
        "# ... and the answer is 42\n",
        "x = a[...]\n",
        "foo(...args); // spread\n",
        "# the rest is handled by g\n",
        "# Existing codes are skipped\n",
        "print('...')\n",
    ],
)
def test_lines_that_only_look_so(code: str) -> None:
    assert placeholder_in(code, "") is None


@pytest.mark.parametrize(
    ("reply", "deletes"),
    [
        ("", False),
        ("\n", False),
        ("I would remove all of it.", False),
        ("```python\n", False),
        ("```python\n```", True),
        ("```\n\n```\n", True),
    ],
)
def test_B81_only_an_empty_block_deletes(reply: str, deletes: bool) -> None:
    machine = check(reply, "\n" if reply.count("\n") == 3 or reply == "\n" else "", "scope", ORIGINAL)
    assert machine.empty
    assert machine.deletes is deletes


def test_a_reply_that_breaks_off_in_its_fence_is_not_closed() -> None:
    assert not check("```\nx = 1\n", "x = 1\n", "scope").closed
    assert check("```\nx = 1\n```", "x = 1\n", "scope").closed
    assert check("x = 1\n", "x = 1\n", "scope").closed


def test_B91_halves_of_a_character_are_joined() -> None:
    machine = ReplyFilter("scope")
    pieces = ["# \ud83e", "\udd8a", "\ud83e", " b", "\udd8a\ud83e"]
    assert "".join(map(machine.push, pieces)) + machine.finish() == "# 🦊 b"


@pytest.mark.parametrize("kind", KINDS)
def test_B15_a_loop_ends_the_reply(kind: Kind) -> None:
    machine = check("a\n" + "b\n" * 9, "a\n" + "b\n" * 5, kind)
    assert machine.runaway and machine.ended
    code = "a\n" + "b\n" * 9
    assert not check(code, code, kind, original=code).runaway


@pytest.mark.parametrize(
    ("text", "keep"),
    [
        ("a\n" * 5, "a\n"),
        ("x\n" + "a\nb\n" * 5, "x\na\nb\n"),
        ("a\nb\nc\nd\n" * 5, "a\nb\nc\nd\n"),
        ("a\n" * 4, None),
        ("a\nb\nc\nd\n" * 4, None),
        ("a\nb\nc\nd\ne\n" * 9, None),
        ("".join(f"{number},\n" for number in range(100)), None),
        ("a\r\n" * 5, "a\r\n"),
        ("a\n" * 4 + "a", None),
    ],
)
def test_runaway(text: str, keep: str | None) -> None:
    for pieces in [text], list(text):
        loop = Runaway()
        for piece in pieces:
            loop.push(piece)
        assert (text[: loop.keep] if loop.found else None) == keep


def test_a_completion_comes_without_delay_where_nothing_is_in_doubt() -> None:
    machine = ReplyFilter("completion")
    assert [machine.push(piece) for piece in ["return ", "a", " + b", "\n    ", "c"]] == [
        "return ",
        "a",
        " + b",
        "\n",
        "    c",
    ]


WRAPPING = ["```", "```python\n", "`", "Here is the code:\n", "Sure!", "# ... rest unchanged ...\n"]
TOKENS = ["<think>", "</think>", "<|im_end|>", "<|fim_middle|>", "<|fim", "NO", "NE", "\ud83e", "\udd8a"]
PARTS = [*WRAPPING, *TOKENS, "\n", "x = 1\n", "    y", " ", "\r\n"]


@given(st.lists(st.sampled_from(PARTS), max_size=12), st.sampled_from(KINDS), st.data())
def test_the_pieces_do_not_matter(parts: list[str], kind: Kind, data: st.DataObject) -> None:
    text = "".join(parts)
    original = data.draw(st.sampled_from(["", ORIGINAL, "```\nx = 1\n```\n"]))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)) | {0, len(text)})
    whole, cut = (ReplyFilter(kind, original, sentinel="NONE") for _ in range(2))
    expected = whole.push(text) + whole.finish()
    pieces = [text[start:end] for start, end in pairwise(cuts)]
    assert "".join(map(cut.push, pieces)) + cut.finish() == expected
    for name in ("closed", "deletes", "empty", "dropped", "placeholder", "runaway", "no_edit"):
        assert getattr(cut, name) == getattr(whole, name), name
    expected.encode()


def test_blanks_behind_a_single_backtick_come_out_in_any_pieces() -> None:
    for pieces in (["`  "], ["` ", " "], ["`", " ", " "]):
        filtered = ReplyFilter("completion")
        assert "".join(map(filtered.push, pieces)) + filtered.finish() == "`  "
