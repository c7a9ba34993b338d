"""What models say around the scope they were asked for is never written into the buffer."""

import pytest

from tests.engine.rewriting import CACHED, CHANGED, FILE, METHOD, check, refused

HOW = "# How many.\n"
LEAD = '@cache\n@trace("f")\n'


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("def f():\n    return 2\n", LEAD + "def f():\n    return 2\n"),
        ('@cache\n@trace("f")\ndef f():\n    return 2\n', LEAD + "def f():\n    return 2\n"),
        (HOW + LEAD + "def f():\n    return 2\n", LEAD + "def f():\n    return 2\n"),
        ('@trace("f")\ndef f():\n    return 2\n', '@trace("f")\ndef f():\n    return 2\n'),
        ("@lru_cache\ndef f():\n    return 2\n", "@lru_cache\ndef f():\n    return 2\n"),
        (HOW + "def f():\n    return 2\n", LEAD + "def f():\n    return 2\n"),
        (
            "# Always two.\n# Why not.\ndef f():\n    return 2\n",
            '# Always two.\n# Why not.\n@cache\n@trace("f")\ndef f():\n    return 2\n',
        ),
        ("# Always two.\n@once\ndef f():\n    return 2\n", "# Always two.\n@once\ndef f():\n    return 2\n"),
    ],
)
def test_D18_what_stands_above_a_definition_stays_unless_the_reply_has_its_own(
    reply: str, expected: str
) -> None:
    check(CACHED, reply, HOW + expected)
    check(CACHED, list(reply), HOW + expected)


def test_D18_attributes_and_doc_comments_in_rust() -> None:
    source = "/// One.\n#[inline]\nfn f() -> i32 {\n    1<|>\n}\n"
    reply = "fn f() -> i32 {\n    2\n}\n"
    check(source, reply, "/// One.\n#[inline]\n" + reply, language="rust")
    check(source, "/// Two.\n" + reply, "/// Two.\n#[inline]\n" + reply, language="rust")


def test_a_doc_comment_in_front_is_new_text() -> None:
    check(
        "function f() {\n  return 1;<|>\n}\n",
        "/**\n * Two.\n */\nfunction f() {\n  return 2;\n}\n",
        "/**\n * Two.\n */\nfunction f() {\n  return 2;\n}\n",
        language="javascript",
    )


@pytest.mark.parametrize(
    "reply",
    [
        "def f(self):\n    return 2\n",
        "    def f(self):\n        return 2\n",
        "@cache\ndef f(self):\n    return 2\n",
        "def f(self):\n        return 2\n",
        "class A:\n    x = 0\n\n    @cache\n    def f(self):\n        return 2\n\n    y = 0\n",
    ],
)
def test_a_method_may_come_at_any_indentation_and_in_its_class(reply: str) -> None:
    check(METHOD, reply, METHOD.replace("return 1<|>", "return 2"))


@pytest.mark.parametrize(
    "reply",
    [
        CHANGED,
        f"```python\n{CHANGED}```\n",
        "TOP = 0\n\ndef f():\n    return 2\n",
        "def f():\n    return 2\n\ndef g():\n    return f()\n",
        "def f():\n    return 2\n\n\ndef g():\n",
    ],
)
def test_of_a_reply_with_the_file_around_it_only_the_function_counts(reply: str) -> None:
    check(FILE, reply, CHANGED)
    check(FILE, list(reply), CHANGED)


def test_a_whole_file_without_the_function_is_refused() -> None:
    refused(FILE, "import os\n\nTOP = 1\n")


TWINS = (
    "import os\n\nclass A:\n    def f(self):\n        return 1\n\n"
    "class B:\n    def f(self):\n        return 1<|>\n"
)
PAIR = """import os

class A:
    @property
    def f(self):
        return 1

    @f.setter
    def f(self, value):
        self.g = 1<|>
"""


def test_in_a_whole_file_a_method_is_found_in_its_own_class() -> None:
    before, _, after = TWINS.rpartition("return 1<|>")
    check(TWINS, f"{before}return 2{after}", f"{before}return 2{after}")


def test_a_whole_file_is_known_by_its_first_words_not_by_its_quotes() -> None:
    source = '"""\nWhat this file does.\n"""\n\ndef f():\n    """\n    One.\n    """\n    return 1<|>\n'
    check(source, source.replace("return 1<|>", "return 2"), source.replace("return 1<|>", "return 2"))


def test_in_a_whole_file_a_setter_is_told_from_its_getter() -> None:
    check(PAIR, PAIR.replace("= 1<|>", "= 2"), PAIR.replace("= 1<|>", "= 2"))


def test_a_whole_file_that_changes_the_twin_too_is_refused_where_nothing_tells_them_apart() -> None:
    refused(PAIR, PAIR.replace("= 1<|>", "= 2").replace("return 1", "return 3"))


def test_a_new_helper_below_the_function_is_written() -> None:
    check(FILE, "def f():\n    return h()\n\ndef h():\n    return 2\n", FILE.replace(
        "return 1<|>", "return h()\n\ndef h():\n    return 2"
    ))  # fmt: skip


@pytest.mark.parametrize(
    "reply",
    [
        "Sure! Here is the changed function:\n\n```python\ndef f():\n    return 2\n```\nIt returns two.\n",
        "```python\ndef f():\n    return 2\n```\nYou can call it so:\n```python\nprint(f())\n```\n",
        "Instruction: return two\n```python\ndef f():\n    return 2\n```\n",
        "# Instruction: return two\ndef f():\n    return 2\n",
        "# Return two\n\ndef f():\n    return 2\n",
        "Return two.\ndef f():\n    return 2\n",
        "```\r\ndef f():\r\n    return 2\r\n```\r\n",
        "<think>\ndef f():\n    return 3\n</think>\n\ndef f():\n    return 2",
    ],
)
def test_what_models_wrap_around_code_is_not_written(reply: str) -> None:
    check(FILE, reply, CHANGED)
    check(FILE, list(reply), CHANGED)
