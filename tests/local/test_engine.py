"""The embedded model itself, with real weights. Costs are counted in tokens, never in seconds."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from lsp_server.engine.errors import ModelMissing
from lsp_server.local.answers import Piece, Refused
from lsp_server.local.engine import load
from lsp_server.local.weights import Weights
from lsp_server.wire.server import Create
from tests.local.made import BYTES
from tests.local.real import DEFAULT, SOURCE, ask, chat, engine, plain

pytestmark = pytest.mark.model

CART = """\
class Cart:
    def __init__(self, owner, currency):
        self.owner = owner
        self.currency = currency
        self.items = []

    def add(self, name, price):
        self.items.append((name, price))

    def total(self):
        return sum(price for name, price in self"""

HEAD = SOURCE[:1200]
OTHER = SOURCE[1200:2400]


async def test_a_line_is_continued_up_to_its_end() -> None:
    async with engine() as opened:
        answer = await ask(opened, plain("def add(a, b):\n    return a +", logprobs=True))
    assert answer.text.strip() == "b"
    assert answer.done.reason == "stop"
    assert [len(piece.logprobs) for piece in answer.pieces] == [1] * len(answer.pieces)
    assert all(entry.logprob <= 0 for piece in answer.pieces for entry in piece.logprobs)
    usage = answer.done.usage
    assert usage.input_tokens == answer.cached + answer.evaluated
    assert {"queue_ms", "prefill_ms", "first_token_ms", "total_ms"} <= set(answer.done.timings)
    first, *others = answer.pieces
    counts = ("cached_tokens", "evaluated_tokens")
    assert [first.timings[name] for name in counts] == [answer.done.timings[name] for name in counts]
    assert first.timings["prefill_ms"] > 0 and not any(piece.timings for piece in others)


async def test_the_bound_on_the_answer_holds() -> None:
    async with engine() as opened:
        answer = await ask(opened, plain("1, 2, 3,", max_output_tokens=5, stop=()))
    assert (answer.done.reason, answer.done.usage.output_tokens) == ("length", 5)


async def test_a_keystroke_evaluates_only_what_is_new() -> None:
    async with engine() as opened:
        cold = await ask(opened, plain(HEAD, "file"))
        warm = await ask(opened, plain(HEAD + "\n    entry = ent", "file"))
        warmer = await ask(opened, plain(HEAD + "\n    entry = entr", "file"))
    assert cold.evaluated > 200 and cold.cached == 0
    assert warm.evaluated < 20 and warmer.evaluated < 20
    assert cold.evaluated - 20 < warm.cached


async def test_two_files_keep_their_caches() -> None:
    async with engine(slots=2) as opened:
        await ask(opened, plain(HEAD, "a"))
        await ask(opened, plain(OTHER, "b"))
        again = [await ask(opened, plain(text + "\nx", key)) for text, key in ((HEAD, "a"), (OTHER, "b"))]
    assert all(answer.evaluated < 20 for answer in again)


async def test_the_cache_of_one_file_more_than_there_are_slots_is_kept_aside() -> None:
    async with engine(slots=2) as opened:
        for text, key in ((HEAD, "a"), (OTHER, "b"), (SOURCE[3000:4000], "c")):
            await ask(opened, plain(text, key))
        again = await ask(opened, plain(HEAD + "\nx", "a"))
    assert again.evaluated < 20


async def test_a_cancelled_answer_frees_its_slot_and_leaves_its_cache() -> None:
    async with engine(slots=1) as opened:
        async with aclosing(opened.generate(plain(HEAD, "a", max_output_tokens=500, stop=()))) as items:
            assert isinstance(await anext(items), Piece)
            assert opened.counters.running == 1
        assert (opened.counters.running, opened.counters.cancelled) == (0, 1)
        again = await ask(opened, plain(HEAD + "\nx", "a"))
    assert again.evaluated < 20


async def test_a_cancel_takes_hold_while_the_prompt_is_read() -> None:
    async with engine(slots=1) as opened:
        reading = asyncio.create_task(ask(opened, plain(SOURCE[:3000], "a")))
        while not opened.counters.running:
            await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert (opened.counters.running, opened.counters.cancelled) == (0, 1)
        again = await ask(opened, plain(SOURCE[:3000], "a"))
    assert again.evaluated > 64


async def test_answers_for_two_files_are_written_at_the_same_time() -> None:
    first, second = (plain(f"{key} = 1, 2,", key, max_output_tokens=100, stop=()) for key in "ab")
    async with (
        engine(slots=2) as opened,
        aclosing(opened.generate(first)) as one,
        aclosing(opened.generate(second)) as two,
    ):
        await anext(one)
        await anext(two)
        assert opened.counters.running == 2


async def test_a_warm_up_only_reads() -> None:
    async with engine() as opened:
        warmed = await ask(opened, plain(HEAD, "a", generate=False))
        answer = await ask(opened, plain(HEAD + "\nx", "a"))
        nothing = await ask(opened, plain("", "a", generate=False))
    assert warmed.pieces == () and warmed.evaluated > 200
    assert answer.evaluated < 20
    assert nothing.pieces == ()


async def test_a_warm_up_gives_way_to_an_answer_and_what_it_read_stays() -> None:
    async with engine(slots=2) as opened:
        text = SOURCE[:3000]
        warming = asyncio.create_task(ask(opened, plain(text, "a", generate=False)))
        while not opened.counters.running:
            await asyncio.sleep(0)
        answer = await ask(opened, plain("x = ", "b"))
        warmed = await warming
        assert opened.counters.cancelled == 1
        whole = await ask(opened, plain(text, "a"))
    assert answer.done.usage.output_tokens
    assert warmed.evaluated < whole.cached + whole.evaluated
    assert whole.cached


async def test_a_warm_up_waits_while_an_answer_is_written() -> None:
    async with engine(slots=2) as opened:
        async with aclosing(opened.generate(plain(HEAD, "a", max_output_tokens=500, stop=()))) as items:
            await anext(items)
            warming = asyncio.create_task(ask(opened, plain(OTHER, "b", generate=False)))
            await anext(items)
            assert opened.counters.running == 1
        await warming
        assert opened.counters.completed == 1


async def test_a_gap_is_filled_with_the_tokens_of_the_weights() -> None:
    variables = {"prefix": "def area(width, height):\n    return ", "suffix": "\n\nprint(area(2, 3))\n"}
    create = Create("", prompt_id="fim", prompt_variables=variables, max_output_tokens=12, stop=("\n",))
    async with engine(DEFAULT) as opened:
        answer = await ask(opened, create)
        harmless = await ask(opened, plain('token = "<|fim_middle|>', "a"))
    assert answer.text.strip() == "width * height"
    assert harmless.done.usage.output_tokens


@pytest.mark.parametrize("typed", ["", ".", ".i", ".it", ".ite"])
async def test_an_identifier_is_finished_wherever_the_cursor_is_in_it(typed: str) -> None:
    async with engine(DEFAULT) as opened:
        answer = await ask(opened, plain(CART + typed, logprobs=True))
    assert (typed + answer.text).startswith(".items)")
    assert len(answer.pieces[0].logprobs) == 1 and answer.pieces[0].logprobs[0].logprob > -0.7


async def test_what_the_model_did_not_expect_is_gone_on_with() -> None:
    async with engine(DEFAULT) as opened:
        answer = await ask(opened, plain(CART + ".ow"))
        unknown = await ask(opened, plain(CART + ".zq"))
    assert answer.text.startswith("n")
    assert unknown.text and not unknown.text.startswith(".zq")


async def test_typing_on_in_a_word_evaluates_next_to_nothing() -> None:
    async with engine() as opened:
        await ask(opened, plain(CART + ".", "file"))
        counts = [
            (await ask(opened, plain(CART + typed, "file"))).evaluated for typed in (".i", ".it", ".ite")
        ]
    assert max(counts) < 6


async def test_an_instruction_is_followed() -> None:
    rules = "You answer with the code only."
    async with engine(DEFAULT) as opened:
        request = chat("Rename the function to plus:\ndef add(a, b):\n    return a + b", instructions=rules)
        answer = await ask(opened, request)
    assert "def plus" in answer.text


async def test_a_prompt_beyond_the_context_is_refused_in_words() -> None:
    async with engine(context=256) as opened:
        with pytest.raises(Refused, match="and the embedded model reads 256") as refused:
            await ask(opened, plain(SOURCE[:4000]))
        assert refused.value.frame.code == "context_length_exceeded"
        assert (await ask(opened, plain("x = "))).done.usage.output_tokens


async def test_weights_that_are_none_are_told_in_words(tmp_path: Path) -> None:
    file = tmp_path / "own.gguf"
    file.write_bytes(BYTES)
    with pytest.raises(ModelMissing, match=r"own\.gguf"):
        await load(Weights(file, None))
