"""What of other documents goes into a prompt."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.context import (
    Chosen,
    Hunk,
    Indexed,
    Wanted,
    choose,
    family,
    indexed,
    known_names,
    place_at,
    read,
    sections,
)
from lsp_server.core.document import Document
from lsp_server.core.prompt.budget import tokens
from lsp_server.core.prompt.snippets import shown
from lsp_server.core.text import Span
from tests.support.marked import parse

ALL = Wanted(open_files=True, recent_edits=True, definitions=True, tokens=1024)
SHOP = '''\
TAX = 0.2


class Item:
    price: float
    name: str

    def with_tax(self, tax=TAX):
        return self.price * (1 + tax)


def total(items, tax=TAX):
    """The sum of all prices."""
    result = 0
    for item in items:
        result += item.with_tax(tax)
    return result


def cheapest(items):
    return min(items, key=lambda item: item.price)
'''


def uri_of(name: str) -> str:
    return f"file:///w/app/{name}"


def index(name: str, text: str, language: str = "python") -> Indexed:
    document = Document.open(uri_of(name), language, 1, text)
    return indexed(document, [read(document, *lines) for lines in sections(document)])


def around(
    source: str, others: dict[str, str], language: str = "python", wanted: Wanted = ALL, **given: Any
) -> tuple[Chosen, ...]:
    """What is chosen for the mark in a document `cart.py` beside others, the one used last first."""
    marked = parse(source)
    document = Document.open(uri_of("cart.py"), language, 1, marked.text)
    known = [index(name, text, language) for name, text in others.items()]
    return choose(place_at(document, marked.span), known, given.pop("hunks", ()), wanted, **given)


def texts(chosen: tuple[Chosen, ...], kind: str) -> list[str]:
    return [each.snippet.text for each in chosen if each.snippet.kind == kind]


# --- Definitions.

TOTAL = SHOP[SHOP.index("def total") : SHOP.index("\n\ndef cheapest")]
ITEM = SHOP[SHOP.index("class Item") : SHOP.index("\n\ndef total")]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from app.shop import total\n\npay(total(<|>))\n", [TOTAL]),
        ("from app import shop\n\nshop.total(<|>)\n", [TOTAL]),
        ("from app.shop import Item\n\nfirst: Item = <|>\n", [ITEM]),
        ("pay(total(<|>))\n", [TOTAL]),
        ("total = <|>\n", []),
        ("from app.shop import *\n\ntotal = <|>\n", [TOTAL]),
        ("pay(tot<|>)\n", [TOTAL]),
        ("pay(to<|>)\n", []),
        ("pay(nothing(<|>))\n", []),
        (
            "first.with_tax(<|>)\n",
            ["    def with_tax(self, tax=TAX):\n        return self.price * (1 + tax)\n"],
        ),
        ("with_tax(<|>)\n", []),
    ],
)
def test_definitions_of_the_names_in_use(source: str, found: list[str]) -> None:
    wanted = Wanted(open_files=False, recent_edits=False, definitions=True, tokens=1024)
    assert texts(around(source, {"shop.py": SHOP}, wanted=wanted), "definition") == found


def test_the_nearest_name_comes_first() -> None:
    source = "from app.shop import *\ncheapest([])\n\n\npay(total(<|>))\n"
    (first, second) = texts(around(source, {"shop.py": SHOP}), "definition")
    assert first == TOTAL and second.startswith("def cheapest")


def test_of_several_definitions_the_imported_one_is_meant() -> None:
    others = {"shop.py": SHOP, "bank.py": "def total(accounts):\n    return 1\n"}
    assert texts(around("pay(total(<|>))\n", others), "definition") == []
    imported = around("from app.bank import total\npay(total(<|>))\n", others)
    assert texts(imported, "definition") == ["def total(accounts):\n    return 1\n"]


def test_what_a_document_defines_itself_is_not_looked_for_elsewhere() -> None:
    own = index("cart.py", "def total(x):\n    return x\n")
    assert texts(around("pay(total(<|>))\n", {"shop.py": SHOP}, own=own), "definition") == []


def test_a_language_that_need_not_import_takes_any_use() -> None:
    chosen = around("var x = Tax <|>\n", {"shop.go": "package shop\n\nconst Tax = 0.2\n"}, "go")
    assert texts(chosen, "definition") == ["const Tax = 0.2\n"]


# --- Pieces of other documents.


def test_the_piece_that_shares_names_with_the_place_is_chosen() -> None:
    others = {"shop.py": SHOP, "log.py": "def write(line):\n    stream.write(line)\n    stream.flush()\n"}
    source = "def dearest(items):\n    result = None\n    for item in items:\n        if item.price <|>\n"
    (piece,) = [each for each in around(source, others) if each.snippet.kind == "code"]
    assert piece.uri == uri_of("shop.py") and piece.snippet.path == "app/shop.py"
    assert "result += item.with_tax(tax)" in piece.snippet.text and piece.snippet.text in SHOP


def test_a_copy_of_the_place_says_nothing_new() -> None:
    source = SHOP.replace("return result", "return <|>result")
    assert texts(around(source, {"copy.py": SHOP}), "code") == []


def test_a_definition_inside_a_chosen_piece_is_not_shown_twice() -> None:
    source = "def show(items):\n    for item in items:\n        item.price = cheapest(items, item.name<|>)\n"
    chosen = around(source, {"shop.py": SHOP})
    assert any("def cheapest" in text for text in texts(chosen, "code"))
    assert not any("def cheapest" in text for text in texts(chosen, "definition"))


def test_generated_lines_are_not_read() -> None:
    assert index("data.py", f"TABLE = [{'1, ' * 1000}]\n").pieces == ()


def test_a_long_document_is_read_in_sections_and_not_to_its_end() -> None:
    document = Document.open(uri_of("long.py"), "python", 1, "def f():\n    return 1\n\n\n" * 5_000)
    lines = list(sections(document))
    assert [first for first, _ in lines[1:]] == [end for _, end in lines[:-1]]
    assert lines[-1][1] < document.line_count
    assert max(end - first for first, end in lines) <= 120


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("typescriptreact", "javascript", True),
        ("c", "cpp", True),
        ("python", "cython", True),
        ("python", "go", False),
        ("no-such", "No-Such", True),
    ],
)
def test_families(one: str, other: str, same: bool) -> None:
    assert (family(one) == family(other)) is same


# --- Recent edits.


def test_recent_edits_are_shown_the_newest_last_and_pure_additions_only_of_others() -> None:
    hunks = [
        Hunk(uri_of("shop.py"), "-a\n+b\n", adds_only=False),
        Hunk(uri_of("cart.py"), "+c\n", adds_only=True),
        Hunk(uri_of("cart.py"), "-d\n+e\n", adds_only=False),
        Hunk(uri_of("shop.py"), "+f\n", adds_only=True),
    ]
    chosen = around("x = <|>\n", {"shop.py": SHOP}, hunks=hunks)
    assert texts(chosen, "edit") == ["-a\n+b\n", "-d\n+e\n", "+f\n"]


def test_of_too_many_edits_the_newest_stay() -> None:
    hunks = [Hunk(uri_of("shop.py"), f"-old_{n}\n+{'new ' * 40}{n}\n", adds_only=False) for n in range(9)]
    shown_ = texts(around("x = <|>\n", {"shop.py": SHOP}, hunks=hunks), "edit")
    assert shown_ == [hunk.text for hunk in hunks[-len(shown_) :]] and 0 < len(shown_) < 9


# --- Order and budget.

CART = """\
from app.shop import total, Item

def pay(items):
    result = total(items)
    for item in items:
        <|>
"""


def test_pieces_then_definitions_then_edits() -> None:
    hunks = [Hunk(uri_of("shop.py"), "-a\n+b\n", adds_only=False)]
    kinds = [each.snippet.kind for each in around(CART, {"shop.py": SHOP, "bank.py": SHOP}, hunks=hunks)]
    assert kinds == sorted(kinds, key=["code", "definition", "edit"].index) and set(kinds) >= {"code", "edit"}


def test_typing_keeps_every_snippet_in_its_place() -> None:
    others = {"shop.py": SHOP}
    source = "from app.shop import total\n\n\ndef pay(items):\n    due = total(items)\n    <|>\n"
    first = around(source, others)
    typed = source.replace("<|>", "paid = due * 2<|>")
    assert first and around(typed, others, previous=first) == first
    wanted = Wanted(open_files=False, recent_edits=False, definitions=True, tokens=1024)
    (total,) = around(source, others, wanted=wanted)
    more = around(source.replace("<|>", "one = cheapest(<|>)"), others, wanted=wanted, previous=(total,))
    assert more[0] == total and "def cheapest" in more[1].snippet.text


def test_the_piece_that_was_chosen_stays_unless_another_one_is_much_better() -> None:
    bodies = [f"def {name}(alpha, beta, gamma, {name}_only):\n" + "    # .\n" * 9 for name in ("one", "two")]
    others = {"shop.py": "\n\n".join(bodies)}
    (first,) = around("def three(alpha, beta, gamma, one_only):\n    <|>\n", others)
    (fresh,) = around("def three(alpha, beta, gamma, two_only):\n    <|>\n", others)
    assert fresh != first
    assert around("def three(alpha, beta, gamma):\n    <|>\n", others, previous=(first,)) == (first,)
    assert around("def three(alpha, beta, gamma):\n    <|>\n", others, previous=(fresh,)) == (fresh,)
    assert around("def three(alpha, beta, gamma, two_only):\n    <|>\n", others, previous=(first,)) == (
        fresh,
    )


@pytest.mark.parametrize(
    ("switched_off", "kind"),
    [("open_files", "code"), ("definitions", "definition"), ("recent_edits", "edit")],
)
def test_each_kind_can_be_switched_off(switched_off: str, kind: str) -> None:
    hunks = [Hunk(uri_of("shop.py"), "-a\n+b\n", adds_only=False)]
    flags = dict.fromkeys(("open_files", "recent_edits", "definitions"), True)
    source = (
        "from app.shop import TAX\n\ndef f(items):\n    for item in items:\n        item.price = TAX <|>\n"
    )
    both = around(source, {"shop.py": SHOP}, hunks=hunks)
    rest = around(
        source, {"shop.py": SHOP}, hunks=hunks, wanted=Wanted(**flags | {switched_off: False}, tokens=1024)
    )
    assert texts(both, kind) and not texts(rest, kind) and rest


names = st.sampled_from(["total", "items", "price", "Item", "result", "with_tax", "TAX", "cheapest", "shop"])
lines = st.one_of(
    st.builds("def {}({}, {}):\n".format, names, names, names),
    st.builds("    {} = {}.{}({})\n".format, names, names, names, names),
    st.builds("class {}:\n".format, names),
    st.builds("from app.other0 import {}\n".format, names),
    st.just("\n"),
    st.text(st.sampled_from("ab {}()\r\n\t測=:'"), max_size=12),
)
programs = st.lists(lines, max_size=60).map("".join)


@given(
    programs,
    st.lists(programs, max_size=4),
    st.lists(st.tuples(names, names), max_size=6),
    st.integers(0, 600),
    st.data(),
)
def test_any_choice_is_deterministic_within_its_budget_and_from_its_document(
    text: str, others: list[str], edits: list[tuple[str, str]], room: int, data: st.DataObject
) -> None:
    document = Document.open(uri_of("cart.py"), "python", 1, text)
    cursor = data.draw(st.integers(0, len(text)))
    place = place_at(document, Span(cursor, cursor))
    known = [index(f"other{number}.py", other) for number, other in enumerate(others)]
    hunks = [Hunk(uri_of("shop.py"), f"-{old}\n+{new}\n", adds_only=False) for old, new in edits]
    wanted = Wanted(open_files=True, recent_edits=True, definitions=True, tokens=room)
    chosen = choose(place, known, hunks, wanted)
    assert choose(place, known, hunks, wanted) == chosen
    assert choose(place, known, hunks, wanted, chosen) == chosen
    assert sum(tokens(shown(each.snippet)) for each in chosen) <= room
    assert len(set(chosen)) == len(chosen)
    known_names(place, known)
    by_uri = {each.document.uri: each.document.text for each in known}
    for each in chosen:
        if each.snippet.kind == "edit":
            assert each.snippet.text in [hunk.text for hunk in hunks]
        else:
            # A carriage return ends a line of the document, but not a row of the parser.
            theirs = by_uri[each.uri].replace("\r", "\n").split("\n")
            ours = each.snippet.text.removesuffix("\n").replace("\r", "\n").split("\n")
            assert {line.rstrip() for line in theirs} >= {line.rstrip() for line in ours}
