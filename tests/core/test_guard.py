"""What must not leave: ignored files, secrets in text, keys in messages."""

from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.guard import IgnoreFile, Unmask, find_secrets, mask, may_leave, path_of, redact
from lsp_server.core.guard.redaction import MASK

SALT = b"test"
# Put together here, so that the scanners of code hosts leave this file alone.
AWS = "AKIA" + "IOSFODNN7EXAMPLQ"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ANTHROPIC = "sk-ant-" + "api03-Zm9vYmFyYmF6cXV4-Zm9vYmFyYmF6cXV4"
OPENAI = "sk-proj-" + "Zm9vYmFyYmF6cXV4_Zm9vYmFyYmF6cXV4"
HEX = "8f14e45fceea167a5a36dedd4bea2543"
PEM_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4=="


def ignore(directory: str, name: str, *patterns: str) -> IgnoreFile:
    return IgnoreFile(directory, name, "\n".join(patterns))


@pytest.mark.parametrize(
    "name",
    [
        ".env", ".env.local", ".ENV.Production", "prod.env", "id_rsa", "id_ed25519", "x.pem", "X.PEM",
        "a.p12", ".npmrc", ".netrc", ".ssh/config", ".aws/credentials", ".docker/config.json",
        "prod.tfvars", "secrets.yaml", "service-account-7.json",
    ],
)  # fmt: skip
def test_B113_files_of_secrets_stay_by_their_name(name: str) -> None:
    for path in (f"/w/{name}", f"/w/deep/er/{name}", f"/c:/w/{name}"):
        assert "file of secrets" in (may_leave(path, ()) or "")


@pytest.mark.parametrize(
    "name", [".env.example", "env.py", "environment", "id_rsa.pub.md", "pem.py", "key.py", "x.pub"]
)
def test_B113_ordinary_names_leave(name: str) -> None:
    assert may_leave(f"/w/{name}", ()) is None


def test_only_the_user_lets_a_file_of_secrets_out() -> None:
    assert may_leave("/w/fixtures/x.pem", (), ["!fixtures/*.pem"]) is not None
    assert may_leave("/w/fixtures/x.pem", (), ["!**/fixtures/*.pem"]) is None
    assert may_leave("/w/x.pem", [ignore("/w", ".aiignore", "!*.pem")]) is not None


@pytest.mark.parametrize("kind", [".gitignore", ".aiignore", ".copilotignore", ".cursorignore"])
def test_B112_ignored_files_stay(kind: str) -> None:
    files = [ignore("/w", kind, "secret/**", "*.log", "/only-here.py")]
    for inside in ("secret/k.py", "secret/deep/k.py", "a.log", "deep/a.log", "only-here.py"):
        assert may_leave(f"/w/{inside}", files) == (
            f"{inside.rpartition('/')[2]} is listed in {kind}, so nothing of it is sent."
        )
    for outside in ("app.py", "secret.py", "deep/only-here.py", "not/secret/k.py"):
        assert may_leave(f"/w/{outside}", files) is None
    assert may_leave("/elsewhere/secret/k.py", files) is None
    assert may_leave("/w2/a.log", files) is None


def test_B112_own_patterns_stay() -> None:
    assert "context.ignore" in (may_leave("/w/a/b.sql", (), ["*.sql"]) or "")


@pytest.mark.parametrize(
    ("files", "path", "leaves"),
    [
        ([("/w", ".gitignore", "*.py"), ("/w/a", ".gitignore", "!k.py")], "/w/a/k.py", True),
        ([("/w", ".gitignore", "*.py"), ("/w/a", ".gitignore", "!k.py")], "/w/b/k.py", False),
        ([("/w", ".gitignore", "a/"), ("/w/a", ".gitignore", "!k.py")], "/w/a/k.py", False),
        ([("/w", ".gitignore", "*.py"), ("/w", ".aiignore", "!k.py")], "/w/k.py", False),
        ([("/w", ".gitignore", "!k.py"), ("/w", ".aiignore", "*.py")], "/w/k.py", False),
        ([("/w", ".gitignore", "*.py\n!k.py")], "/w/k.py", True),
        ([("/w", ".gitignore", "# *\n\\#x\r\n a.py\n!")], "/w/a.py", True),
        ([("/w", ".gitignore", "!\n[\nk.py")], "/w/k.py", False),
        ([("/w", ".gitignore", "build")], "/w/build/k.py", False),
        ([("", ".aiignore", "k.py")], "/w/k.py", False),
    ],
)
def test_ignore_files_are_read_as_git_reads_them(
    files: list[tuple[str, str, str]], path: str, leaves: bool
) -> None:
    assert (may_leave(path, [IgnoreFile(*file) for file in files]) is None) == leaves


def test_case_is_folded_where_the_file_system_does() -> None:
    files = [ignore("/w", ".gitignore", "Secret/")]
    assert may_leave("/w/secret/k.py", files) is None
    assert may_leave("/w/secret/k.py", files, fold=True) is not None


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///w/a%20b.py", "/w/a b.py"),
        ("file:///c%3A/w/.env", "/c:/w/.env"),
        ("file:///C:/w/.env", "/c:/w/.env"),
        ("file://server/share/x.py", "//server/share/x.py"),
        ("C:\\w\\.env", "/c:/w/.env"),
        ("/w/a%20b#c.py", "/w/a%20b#c.py"),
        ("untitled:Untitled-1", "Untitled-1"),
        ("untitled:/w/.env", "/w/.env"),
        ("vscode-notebook-cell:/w/n.ipynb#W0sZmlsZQ", "/w/n.ipynb"),
        ("git:/w/.env?%7B%22ref%22%7D", "/w/.env"),
    ],
)
def test_paths_of_uris(uri: str, path: str) -> None:
    assert path_of(uri) == path


SECRETS = [
    (f"client = boto3.client('s3', aws_access_key_id='{AWS}')", AWS),
    (f"# {GITHUB} is mine", GITHUB),
    (f"client = Anthropic(api_key={ANTHROPIC!r})", ANTHROPIC),
    (f"curl -H 'Authorization: Bearer {OPENAI}'", OPENAI),
    ('client = connect(password="Tr0ub4dor&3")', "Tr0ub4dor&3"),
    ("db_password = 'correct horse'", "correct horse"),
    ("DATABASE_URL = 'postgres://bob:s3cr3tpw@db/x'", "s3cr3tpw"),
    (f"salt = '{HEX}'", HEX),
    ("export API_TOKEN=abcdef123456", "abcdef123456"),
    ("  password: hunter22", "hunter22"),
    ("x" * 3000 + f' password = "{HEX}"', HEX),
    (f"-----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}\n-----END RSA PRIVATE KEY-----", PEM_BODY),
    (f'k = "-----BEGIN PRIVATE KEY-----\\n{PEM_BODY}', PEM_BODY),
    (PEM_BODY.split("\n")[0], PEM_BODY.split("\n")[0]),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
@pytest.mark.parametrize("mark", ["+", "-", " ", "# ", "#", "//", "    // ", " * ", "-- ", "> "])
def test_secrets_in_a_diff_or_in_a_comment_are_masked(text: str, secret: str, mark: str) -> None:
    marked = "".join(mark + line for line in text.splitlines(keepends=True))
    masked = mask(["@@\n", marked, "\n"], SALT)
    assert not [line for line in secret.split("\n") if line in masked.texts[1]]
    assert Unmask(masked.secrets).push(masked.texts[1]) == marked


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secrets_are_masked_and_nothing_else(text: str, secret: str) -> None:
    masked = mask([text], SALT)
    assert secret not in masked.texts[0]
    assert Unmask(masked.secrets).push(masked.texts[0]) == text
    head, _, tail = text.partition(secret)
    assert masked.texts[0].startswith(head)
    assert masked.texts[0].endswith(tail)


@pytest.mark.parametrize(
    "text",
    [
        "password = input()\nif password == stored_password(user):\n    token = make_token(password)",
        "def check(password: str, token: Optional[str] = None) -> bool:",
        "secret = request.headers['x-signature']",
        'if "-----BEGIN RSA PRIVATE KEY-----" in text:\n    return parse_private_key_block(text)\n',
        "id = '123e4567-e89b-12d3-a456-426614174000'",
        "password = '${PASSWORD}'",
        "API_KEY=$OTHER_KEY\nTOKEN=$(cat token.txt)",
        "alphabet = 'abcdefghijklmnopqrstuvwxyz'",
        "",
    ],
)
def test_ordinary_code_is_left_alone(text: str) -> None:
    assert mask([text], SALT).texts == (text,)


def test_a_value_once_known_is_masked_everywhere() -> None:
    masked = mask([f'password = "{HEX}"\n', f"# note: {HEX} expires soon\n"], SALT)
    assert HEX not in "".join(masked.texts)
    assert len(masked.secrets) == 1


def test_placeholders_are_stable_and_salted() -> None:
    one, two = mask([f'k = "{HEX}"'], SALT), mask(["\n\n", f'k = "{HEX}"'], SALT)
    assert one.secrets == two.secrets
    assert mask([f'k = "{HEX}"'], b"other").secrets != one.secrets


@pytest.mark.parametrize("cut", range(1, len(f'k = "{AWS}"')))
def test_a_secret_across_the_cursor_is_masked_on_both_sides(cut: int) -> None:
    text = f'k = "{AWS}"'
    before, after = mask([text[:cut], text[cut:]], SALT).texts
    assert AWS not in before + after
    assert not any(AWS[index : index + 3] in before + after for index in range(len(AWS) - 2))


@given(st.data())
def test_masks_come_back_however_the_stream_is_cut(data: st.DataObject) -> None:
    secrets = {"REDACTED_00000001": "one", "REDACTED_00000002": "two REDACTED_ three"}
    pieces = st.sampled_from([*secrets, "REDACTED_", "RED", "x", "\n", "REDACTED_0000000"])
    reply = "".join(data.draw(st.lists(pieces, max_size=8)))
    expected = reply
    for placeholder, secret in secrets.items():
        expected = expected.replace(placeholder, secret)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=6)))
    machine = Unmask(secrets)
    chunks = [reply[start:end] for start, end in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
    assert "".join(map(machine.push, chunks)) + machine.finish() == expected


def test_without_secrets_nothing_is_held_back() -> None:
    assert Unmask({}).push("REDACTED_") == "REDACTED_"


@given(st.text(alphabet="ab=\"'\n :/@-sk_PASWORDpaswrd", max_size=200))
def test_masking_is_undone_exactly(text: str) -> None:
    masked = mask([text], SALT)
    machine = Unmask(masked.secrets)
    assert machine.push(masked.texts[0]) + machine.finish() == text


@given(st.text(max_size=300))
def test_spans_are_in_order_and_inside(text: str) -> None:
    spans = find_secrets(text)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    assert all(0 <= span.start < span.end <= len(text) for span in spans)


@pytest.mark.parametrize(
    "message",
    [
        "Incorrect API key provided: {key}. You can find another on the site.",
        "Incorrect API key provided: {head}****{tail}.",
        '{{"error": {{"message": "bad key {key}", "headers": {{"Authorization": "Bearer {key}"}}}}}}',
        "GET https://host/v1?key={quoted}",
        "key={key}{key}",
    ],
)
@pytest.mark.parametrize("key", ["CANARY-a+b/c=12345678", "https://example.com/CANARY?x=1", OPENAI])
def test_B116_the_providers_text_never_shows_the_key(message: str, key: str) -> None:
    quoted = quote(key, safe="")
    shown = redact(message.format(key=key, head=key[:8], tail=key[-8:], quoted=quoted), [key])
    assert MASK in shown
    assert not any(form[at : at + 8] in shown for form in (key, quoted) for at in range(len(form) - 7))


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {'x' * 20}",
        f"{{'x-api-key': '{'x' * 20}'}}",
        f"wrong key {OPENAI}",
        f"proxy http://bob:{'x' * 20}@host:80 refused",
        f"?api_key={'x' * 20}&y=1",
    ],
)
def test_B115_what_looks_like_a_key_is_masked_unasked(text: str) -> None:
    assert "x" * 20 not in redact(text)
    assert OPENAI not in redact(text)


def test_ordinary_sentences_stay_as_they_are() -> None:
    sentence = "The host api.example.com did not answer; the token limit is 128 and a basic check passed."
    assert redact(sentence, ["", "abc"]) == sentence
