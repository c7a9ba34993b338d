"""Keys are named, never written down, and the user's file is found."""

from pathlib import Path

import pytest

from lsp_server.settings import MissingKey, load, load_user, resolve_key, user_file

CANARY = "sk-CANARY-123"


@pytest.mark.parametrize(
    "model",
    [
        {"key": CANARY},
        {"key": f"env:{CANARY} "},
        {"key": [CANARY]},
        {"headers": {"api-key": CANARY}},
        {"headers": {"Authorization": f"Bearer {CANARY}"}},
        {"url": f"https://user:{CANARY}@host"},
        {"proxy": f"http://user:{CANARY}@host"},
    ],
)
def test_a_literal_key_is_refused_and_never_repeated(model: dict[str, object]) -> None:
    wanted = {"protocol": "chat-http", "model": "m", **model}
    settings, problems = load(None, {}, {"models": {"x": wanted}}, None)
    assert problems
    assert CANARY not in repr(settings) + repr(problems)
    assert "x" in settings.models or "url" in model or "proxy" in model


def test_plain_headers_and_references_are_fine() -> None:
    headers = {"api-key": "env:AZURE", "x-team": "blue"}
    model = {"protocol": "chat-http", "model": "m", "key": "keyring:azure", "headers": headers}
    settings, problems = load(None, {}, {"models": {"x": model}}, None)
    assert problems == []
    assert (settings.models["x"].headers, settings.models["x"].key) == (headers, "keyring:azure")


def test_keys_are_resolved_from_the_environment() -> None:
    assert resolve_key("env:K", {"K": " secret\n"}) == "secret"
    assert resolve_key("") == ""
    for environment in ({}, {"K": ""}):
        with pytest.raises(MissingKey, match="K is not set"):
            resolve_key("env:K", environment)


def test_keys_are_resolved_from_the_key_store(monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring
    from keyring.backends import fail, null

    class Store(null.Keyring):
        def get_password(self, service: str, username: str) -> str | None:
            return {("midstream", "spark"): "secret"}.get((service, username))

    before = keyring.get_keyring()
    try:
        keyring.set_keyring(Store())
        assert resolve_key("keyring:spark") == "secret"
        with pytest.raises(MissingKey, match="keyring set midstream other"):
            resolve_key("keyring:other")
        keyring.set_keyring(fail.Keyring())
        with pytest.raises(MissingKey, match="did not answer"):
            resolve_key("keyring:spark")
    finally:
        keyring.set_keyring(before)


def test_the_users_file_can_be_named() -> None:
    assert str(user_file({"MIDSTREAM_CONFIG": "/x/y.toml"})) == "/x/y.toml"
    assert user_file({}).name == "config.toml"


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    environment = {"MIDSTREAM_CONFIG": str(file)}
    assert "does not exist" in str(load_user(environment)[1][0])
    file.write_bytes(b"\xff\xfe")
    assert "not UTF-8" in str(load_user(environment)[1][0])
    file.write_bytes("\ufeff[complete]\r\ndebounce = 5\r\n".encode())
    settings, problems = load_user(environment)
    assert (settings.complete.debounce, problems) == (5, [])
    assert settings.origins["complete.debounce"] == str(file)


@pytest.mark.parametrize(
    "reference", ["env:sk-proj-4f9a7c21e8b35d60a1", "keyring:" + "4f9a7c21" * 4, "env:two words"]
)
def test_a_key_after_the_colon_is_refused_and_not_repeated(reference: str) -> None:
    model = {"protocol": "chat-http", "model": "m", "url": "https://h/v1", "key": reference}
    settings, problems = load(None, {}, {"models": {"x": model}}, None)
    assert settings.models["x"].key == ""
    assert "holds a key itself" in str(problems[0])
    assert reference.partition(":")[2] not in str(problems)


@pytest.mark.parametrize("name", ["url", "proxy"])
@pytest.mark.parametrize("value", ["https://me:secret@host.example/v1", 7])
def test_a_model_whose_address_is_refused_goes_nowhere_else(name: str, value: object) -> None:
    """Not to its protocol's own vendor, and not around its proxy."""
    model = {"protocol": "chat-http", "model": "m", "url": "https://h/v1", name: value}
    settings, problems = load(None, {}, {"models": {"x": model}, "tasks": {"edit": "x"}}, None)
    assert "x" not in settings.models
    assert settings.tasks.edit == "local"
    assert any("`models.x` cannot be used without its address" in str(problem) for problem in problems)
