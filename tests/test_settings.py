"""Settings: precedence, trust, and every mistake as a value."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.settings import Settings, load
from lsp_server.settings.environment import variables
from lsp_server.settings.shapes import plain


def check(
    *problems: str,
    toml: str | None = None,
    env: Mapping[str, str] | None = None,
    client: object = None,
    workspace: object = None,
    **expected: Any,
) -> Settings:
    """Load; the problems must be exactly these, and `complete__debounce=50` must be what came out."""
    settings, found = load(toml, env or {}, client, workspace, file="config.toml")
    assert [str(problem) for problem in found] == list(problems)
    for path, value in expected.items():
        here: Any = plain(settings)
        for key in path.split("__"):
            here = here.get(key)
        assert here == value, path
    return settings


def test_without_any_source_everything_is_the_default() -> None:
    settings = check()
    assert settings.model_for("complete").model == "qwen2.5-coder-0.5b"
    assert set(settings.origins.values()) == {"default"}


def test_later_sources_win_and_say_so() -> None:
    settings = check(
        toml="complete = { debounce = 1, maxTokens = 1, candidates = 2 }\nedit.format = 'hunks'",
        env={"MIDSTREAM_COMPLETE_DEBOUNCE": "2", "MIDSTREAM_COMPLETE_MAX_TOKENS": "2", "PATH": "/bin"},
        client={"complete": {"debounce": 3, "maxTokens": 3.0}},
        workspace={"complete": {"debounce": 4}},
        complete__debounce=4,
        complete__maxTokens=3,
        complete__candidates=2,
        edit__format="hunks",
    )
    assert settings.origins["complete.debounce"] == "workspace/configuration"
    assert settings.origins["complete.maxTokens"] == "initializationOptions"
    assert settings.origins["complete.candidates"] == "config.toml"
    assert settings.origins["complete.enabled"] == "default"


@pytest.mark.parametrize(
    ("name", "text", "path", "value"),
    [
        ("MIDSTREAM_COMPLETE_ENABLED", "off", "complete__enabled", False),
        ("MIDSTREAM_COMPLETE_ENABLED", "1", "complete__enabled", True),
        ("MIDSTREAM_COMPLETE_VIA_COMPLETION", "true", "complete__viaCompletion", True),
        ("MIDSTREAM_COMPLETE_VIA_COMPLETION", "auto", "complete__viaCompletion", "auto"),
        ("MIDSTREAM_COMPLETE_LANGUAGES", "python, lua", "complete__languages", ["python", "lua"]),
        ("MIDSTREAM_CONTEXT_IGNORE", '["a b", "c"]', "context__ignore", ["a b", "c"]),
        ("MIDSTREAM_EDIT_ON_FOREIGN_CHANGE", "rebase", "edit__onForeignChange", "rebase"),
        ("MIDSTREAM_BUDGET_PER_DAY", "2.5", "budget__perDay__money", 2.5),
        ("MIDSTREAM_BUDGET_PER_DAY_TOKENS", "1_000", "budget__perDay__tokens", 1000),
        ("MIDSTREAM_COMPLETE", '{"debounce": 9}', "complete__debounce", 9),
        ("MIDSTREAM_COMPLETE", "{ debounce = 9 }", "complete__debounce", 9),
        ("MIDSTREAM_COMPLETE", "debounce = 9", "complete__debounce", 9),
        ("MIDSTREAM_MODELS", '{"local": {"model": "/m.gguf"}}', "models__local__model", "/m.gguf"),
    ],
)
def test_environment(name: str, text: str, path: str, value: Any) -> None:
    settings = check(env={name: text}, **{path: value})
    assert f"environment variable {name}" in settings.origins.values()


def test_every_variable_is_read() -> None:
    assert "MIDSTREAM_LOG_FILE" in variables()
    for name in variables():
        if name not in ("MIDSTREAM_TRUSTED", "MIDSTREAM_MODELS"):
            _, problems = load(None, {name: "\x00"}, None, None)
            settings, _ = load(None, {name: "\x00"}, None, None)
            assert problems or f"environment variable {name}" in settings.origins.values(), name


REPOSITORY = (
    "is not read from workspace/configuration, which a repository can write; set it in your own settings"
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("models", {"local": {"url": "http://evil.example", "protocol": "chat-http"}}),
        ("budget", {"perDay": 1000}),
        ("checks", {"test": "rm -rf ~"}),
    ],
)
def test_a_repository_cannot_name_hosts_spend_money_or_run_commands(path: str, value: object) -> None:
    sentence = f"workspace/configuration: `{path}` {REPOSITORY}"
    settings = check(sentence, workspace={path: value, "complete": {"debounce": 7}}, complete__debounce=7)
    assert getattr(settings, path) == getattr(Settings(), path)


def test_a_repository_cannot_choose_the_log_file() -> None:
    settings = check(
        f"workspace/configuration: `log.file` {REPOSITORY}",
        workspace={"log": {"file": "/etc/passwd", "level": "debug"}},
        log__level="debug",
    )
    assert settings.log.file == ""


def test_values_that_the_client_repeats_are_no_problem() -> None:
    """VS Code answers workspace/configuration with the user's own settings and all defaults."""
    mine = {"models": {"local": {"model": "/m.gguf"}}, "budget": {"perDay": 1}}
    check(client=mine, workspace={**plain(Settings()), **mine}, models__local__model="/m.gguf")


def test_a_repository_can_only_add_to_what_is_ignored() -> None:
    settings = check(
        "workspace/configuration: `context.ignore` can only add patterns here; "
        "those that start with `!` are left out",
        toml="context.ignore = ['secret/']",
        workspace={"context": {"ignore": ["!secret/", "more/"]}},
    )
    assert settings.context.ignore == ("secret/", "more/")


def test_trust_comes_from_the_client_alone() -> None:
    for source in (
        {"toml": "trusted = true"},
        {"env": {"MIDSTREAM_TRUSTED": "1"}},
        {"workspace": {"trusted": True}},
    ):
        settings, problems = load(
            source.get("toml"),
            source.get("env", {}),
            None,
            source.get("workspace"),  # type: ignore[arg-type]
        )
        assert settings.trusted is None
        assert [problem.sentence for problem in problems] == [
            "`trusted` is only read from initializationOptions"
        ]
    assert check(client={"trusted": True}).trusted is True


def test_an_untrusted_workspace_is_not_read() -> None:
    check(
        client={"trusted": False},
        workspace={"complete": {"debounce": 4}, "junk": 1},
        complete__debounce="auto",
    )


@pytest.mark.parametrize(
    ("toml", "problem"),
    [
        ("[complete]\ndebonce = 1", "2:1: `complete.debonce` is not a setting; did you mean `debounce`?"),
        (
            "complete.max_tokens = 1",
            "1:10: `complete.max_tokens` is not a setting; did you mean `maxTokens`?",
        ),
        ("[complete]\n\n  enabled = 1", "3:3: `complete.enabled` must be true or false, not 1"),
        ("complete = 3", "1:1: `complete` must be an object, not a whole number"),
        (
            "complete = { debounce = 9_999 }",
            '1:14: `complete.debounce` must be a whole number from 0 to 5000 or "auto", not 9999',
        ),
        (
            "[edit]\nformat = 'diff'",
            '2:1: `edit.format` must be "auto", "scope" or "hunks", not "diff"',
        ),
        ("context.ignore = 'x'", "1:9: `context.ignore` must be a list, not a text"),
        ("context.ignore = [\n 'x',\n 3]", "3:2: `context.ignore.1` must be a text, not 3"),
        (
            "[[edit.actions]]\ntitle = 'x'\n[[edit.actions]]\ntitle = 3",
            "4:1: `edit.actions.1.title` must be a text, not 3",
        ),
        ("budget.perDay = -1", "1:8: `budget.perDay.money` must be a number of at least 0, not -1"),
        (
            "tasks.edit = 'lokal'",
            '1:7: `tasks.edit` names no model that can be used: "lokal"; did you mean `local`?',
        ),
        (
            "[models.x]\nmodel = 'm'\nfallback = 'x'",
            "3:1: `models.x.fallback` leads back to the model itself; name another one",
        ),
        (
            "[models.x]\nprotocol = 'fim-http'",
            "1:9: `models.x` has no url; fim-http hosts have no default one, so set it",
        ),
        (
            "[models.x]\nprotocol = 'chat-http'\nmodel = 'm'\nurl = 'ftp://h'",
            "1:9: `models.x` has a url that does not start with https:// or http://",
        ),
        ("a = \n", "1:5: is not valid TOML: Invalid value"),
        (
            "[complete]\n'deb\\once' = 1",
            "2:1: `complete.deb\\once` is not a setting; did you mean `debounce`?",
        ),
    ],
)
def test_mistakes_are_named_with_their_place(toml: str, problem: str) -> None:
    settings, problems = load(toml, {}, None, None, file="config.toml")
    assert [str(found) for found in problems] == [f"config.toml:{problem}"]
    assert plain(settings)["complete"] == plain(Settings())["complete"]


def test_the_good_rest_is_kept() -> None:
    check(
        'config.toml:2:1: `complete.debounce` must be a whole number from 0 to 5000 or "auto", not true',
        'initializationOptions: `edit.format` must be "auto", "scope" or "hunks", not 1',
        toml="[complete]\ndebounce = true\nmaxTokens = 5",
        client={"edit": {"format": 1, "delivery": "atomic"}},
        complete__maxTokens=5,
        complete__debounce="auto",
        edit__delivery="atomic",
    )


@pytest.mark.parametrize("empty", [[], {}, None])
def test_empty_lua_tables_and_null_are_empty_objects(empty: object) -> None:
    check(client=empty)
    check(client={"complete": empty, "models": empty, "context": {"ignore": empty}})
    check(client={"midstream": {"complete": {"debounce": 5}}}, workspace=empty, complete__debounce=5)


@pytest.mark.parametrize(
    "wrong", ["text", 3, True, [1], {"complete": [1]}, {"models": [1]}, {"models": {"x": 1}}]
)
def test_a_source_of_the_wrong_kind_is_one_problem(wrong: object) -> None:
    for client, workspace in ((wrong, None), (None, wrong)):
        settings, problems = load(None, {}, client, workspace)
        assert len(problems) == 1
        assert plain(settings) == plain(Settings())


@pytest.mark.parametrize(
    ("languages", "served"),
    [(["*"], "ab"), (["a"], "a"), (["*", "!a"], "b"), ([], ""), (["!a"], "")],
)
def test_languages(languages: list[str], served: str) -> None:
    complete = check(client={"complete": {"languages": languages}}).complete
    assert "".join(language for language in "ab" if complete.serves(language)) == served


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["models", "complete", "debounce", "perDay", "budget", "key", "x"]), inner
        )
    ),
    max_leaves=8,
)


@given(JUNK, JUNK)
def test_nothing_that_a_client_sends_can_fail(client: object, workspace: object) -> None:
    settings, problems = load(None, {}, client, workspace)
    assert settings.models["local"]
    assert json.dumps(plain(settings))
    assert all(problem.sentence for problem in problems)


@given(st.text(alphabet="a.=[]{}\"'\n #1,\\", max_size=40))
def test_no_text_of_a_file_can_fail(toml: str) -> None:
    settings, _ = load(toml, {}, None, None)
    assert settings.models["local"]
