"""A reply that lacks the line which begins the definition is refused; one that changes the line passes."""

import pytest

from tests.engine.rewriting import CACHED, FILE, METHOD, check, edited, refused

JAVASCRIPT = "const area = (w, h) => {\n  const size = w * h;\n  return size;<|>\n};\n"
C = "static int area(int w, int h)\n{\n    return w * h;<|>\n}\n"
LANGUAGES = {"javascript": JAVASCRIPT, "c": C}


@pytest.mark.parametrize("source", [FILE, METHOD, CACHED])
@pytest.mark.parametrize(
    "reply",
    [
        "    return 2\n",
        "return 2",
        '    """Two."""\n    return 2\n',
        "# Two.\n    return 2\n",
        "@cache\nreturn 2\n",
        "# Nothing to change here.\n",
        "```python\nassert f() == 2\n```\nwhere\n```python\ndef f():\n    return 2\n```\n",
    ],
)
def test_the_body_alone_is_refused(source: str, reply: str) -> None:
    refused(source, reply)
    refused(source, list(reply))


@pytest.mark.parametrize(
    ("language", "reply"),
    [
        ("javascript", "  const size = w * h;\n  return size;\n"),
        ("c", "    int size = w * h;\n    return size;\n"),
    ],
)
def test_the_body_alone_is_refused_where_it_begins_like_a_definition(language: str, reply: str) -> None:
    refused(LANGUAGES[language], reply, language=language)


@pytest.mark.parametrize(
    "reply",
    [
        "def g():\n    return 2\n",
        "async def two():\n    return 2\n",
        "class F:\n    two = 2\n",
        "# Two.\ndef g():\n    return 2\n",
        "f = lambda: 2\n",
    ],
)
def test_a_changed_first_line_passes(reply: str) -> None:
    check("def f():\n    return 1<|>\n", reply, reply)
    check("def f():\n    return 1<|>\n", list(reply), reply)


@pytest.mark.parametrize(
    ("language", "reply"),
    [
        ("javascript", "const size = (w, h) => {\n  return w * h;\n};\n"),
        ("javascript", "function area(w, h) {\n  return w * h;\n}\n"),
        ("c", "extern unsigned area(int w, int h)\n{\n    return w * h;\n}\n"),
        ("c", "static long surface(int w, int h)\n{\n    return w * h;\n}\n"),
        ("c", "int area(int w, int h)\n{\n    return h * w;\n}\n"),
    ],
)
def test_a_new_name_or_type_passes(language: str, reply: str) -> None:
    check(LANGUAGES[language], reply, reply, language=language)


def test_the_user_is_told_what_the_answer_lacks() -> None:
    outcome, text = edited("def f():\n    return 1<|>\n", "    return 2\n")
    assert (outcome, text) == ("rejected", "def f():\n    return 1\n")
