"""What a file defines, in the few lines that somebody who uses it needs."""

import pytest

from lsp_server.core.syntax.outline import MOST_CHARACTERS, MOST_LINES, outline

PYTHON = '''\
import os
TAX: float = 0.2

@dataclass(frozen=True)
class Item(Base):
    """An item."""

    price: float

    @property
    def total(self, tax: float = TAX) -> float:
        """Its price."""
        def rounded():
            return 3
        return self.price * (1 + tax)

    def free(self):
        return not self.price


def long(first,
         second):
    """Doc."""
    x = 1
    y = 2
    z = 3
    return x + y + z

if TAX:
    def hidden(): pass
'''
TYPESCRIPT = """\
import { a } from "b";
export interface Shape { kind: string; area(): number }
export const area = (shape: Shape, factor = 1): number => {
  const a = 1;
  const b = 2;
  const c = 3;
  const d = 4;
  const e = 5;
  return a;
};
export default class Circle implements Shape {
  kind = "c";
  constructor(r: number) {
    this.r = r;
    console.log(1);
    console.log(1);
  }
}
"""
GO = """\
package shop

type (
\tItem struct{ Price float64 }
\tCart interface{ Pay() error }
)

func (i *Item) Total(tax float64) (float64, error) { return 0, nil }
"""
RUST = """\
#[derive(Debug)]
pub struct Item { pub price: f64 }
impl Item {
    pub fn new(price: f64) -> Self {
        let a = 1;
        let b = 2;
        let c = 3;
        Self { price }
    }
}
"""


@pytest.mark.parametrize(
    ("language", "source", "name", "text"),
    [
        ("python", PYTHON, "TAX", "TAX: float = 0.2\n"),
        ("python", PYTHON, "long", "def long(first,\n         second):\n"),
        (
            "python",
            PYTHON,
            "Item",
            "@dataclass(frozen=True)\nclass Item(Base):\n    price: float\n    @property\n"
            "    def total(self, tax: float = TAX) -> float:\n    def free(self):\n",
        ),
        ("python", PYTHON, "free", "    def free(self):\n        return not self.price\n"),
        (
            "typescript",
            TYPESCRIPT,
            "area",
            "export const area = (shape: Shape, factor = 1): number => {\n",
        ),
        (
            "typescript",
            TYPESCRIPT,
            "Circle",
            'export default class Circle implements Shape {\n  kind = "c";\n  constructor(r: number) {\n}\n',
        ),
        ("typescript", TYPESCRIPT, "Shape", "export interface Shape { kind: string; area(): number }\n"),
        (
            "go",
            GO,
            "Cart",
            "type (\n\tItem struct{ Price float64 }\n\tCart interface{ Pay() error }\n)\n",
        ),
        ("go", GO, "Total", "func (i *Item) Total(tax float64) (float64, error) { return 0, nil }\n"),
        ("rust", RUST, "Item", "pub struct Item { pub price: f64 }\n"),
        ("c", "typedef struct item {\n  double price;\n} item_t;\n", "item_t", None),
        ("cpp", "template <typename T>\nT add(T a, T b) {\n  return a + b;\n}\n", "add", None),
        ("java", "class Item {\n  double total() { return 1; }\n}\n", "Item", None),
        ("csharp", "namespace A {\n  class Item { }\n}\n", "Item", "  class Item { }\n"),
        ("ruby", "module A\n  class Item\n  end\nend\n", "Item", "  class Item\n  end\n"),
        ("php", "<?php\nfunction f($a) { return 1; }\n", "f", "function f($a) { return 1; }\n"),
        ("lua", "local M = {}\nfunction M.total(items)\n  return 1\nend\n", "total", None),
        ("javascript", "module.exports.sum = function (a) { return a };\n", "sum", None),
        ("bash", "total() {\n  echo 1\n}\n", "total", None),
        (
            "fortran",
            "module m\ncontains\n  subroutine total(a)\n  end subroutine\nend module\n",
            "total",
            None,
        ),
    ],
)
def test_definitions(language: str, source: str, name: str, text: str | None) -> None:
    found = next(each.text for each in outline(source, language) if each.name == name)
    assert found in source if text is None else found == text


def test_members_are_told_from_what_stands_alone() -> None:
    found = {each.name: each.member for each in outline(PYTHON, "python")}
    assert found == {"TAX": False, "Item": False, "long": False, "price": True, "total": True, "free": True}


def test_what_stands_inside_functions_is_left_out() -> None:
    assert "rounded" not in [each.name for each in outline(PYTHON, "python")]


def test_a_definition_stays_short() -> None:
    fields = "".join(f"    field_{number}: int\n" for number in range(200))
    (item, *_) = outline(f"class Item:\n{fields}", "python")
    assert item.text.count("\n") == MOST_LINES
    wide = "".join(f"    field_{number}: int  # {'x' * 200}\n" for number in range(200))
    assert "Item" not in [each.name for each in outline(f"class Item:\n{wide}", "python")]
    assert len(wide) > MOST_CHARACTERS


def test_a_piece_from_the_middle_of_a_file_has_definitions_too() -> None:
    source = "function f($a) { return 1; }\n"
    assert outline(source, "php") == []
    assert [each.text for each in outline(source, "php", fragment=True)] == [source]


@pytest.mark.parametrize("source", ["", "def (((", "class A:\n", "\ud800 = 1\n", "def f():\r    pass\r"])
def test_any_text_has_an_outline(source: str) -> None:
    for language in ("python", "typescript", "c", "markdown", "no-such-language"):
        outline(source, language)
