"""Which request gets which cache, and when background work has its turn."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from lsp_server.local.slots import Slots, Turns


def key(name: str) -> tuple[str, ...]:
    return ("plain", name)


async def test_a_document_gets_its_own_slot_back() -> None:
    slots = Slots(2)
    first = await slots.acquire(key("a"))
    slots.release(first)
    other = await slots.acquire(key("b"))
    slots.release(other)
    assert other is not first
    assert await slots.acquire(key("a")) is first
    assert await slots.acquire(key("b")) is other


async def test_a_new_document_takes_the_slot_unused_for_the_longest_time() -> None:
    slots = Slots(2)
    for name in ("a", "b", "a"):
        slots.release(await slots.acquire(key(name)))
    taken = await slots.acquire(key("c"))
    slots.release(taken)
    assert (await slots.acquire(key("a"))).number != taken.number


async def test_who_waits_takes_nothing_from_who_works() -> None:
    slots = Slots(1)
    working = await slots.acquire(key("a"))
    waiting = asyncio.create_task(slots.acquire(key("b")))
    await asyncio.sleep(0)
    assert not waiting.done() and working.key == key("a")
    slots.release(working)
    assert (await waiting).key == key("b")


async def test_a_cache_is_waited_for_while_its_cancelled_user_lets_go() -> None:
    slots = Slots(2)
    overtaken = await slots.acquire(key("a"))
    overtaken.leaving = True
    waiting = asyncio.create_task(slots.acquire(key("a")))
    await asyncio.sleep(0)
    assert not waiting.done()
    slots.release(overtaken)
    assert await waiting is overtaken


async def test_two_answers_for_one_document_run_beside_each_other() -> None:
    slots = Slots(2)
    assert await slots.acquire(key("a")) is not await slots.acquire(key("a"))


async def test_a_waiter_that_goes_away_leaves_nothing() -> None:
    slots = Slots(1)
    working = await slots.acquire(key("a"))
    waiting = asyncio.create_task(slots.acquire(key("b")))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    slots.release(working)
    assert await slots.acquire(key("a")) is working


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.booleans()), max_size=40), st.integers(1, 4))
async def test_no_slot_ever_has_two_users(steps: list[tuple[str, bool]], number: int) -> None:
    slots = Slots(number)
    held: list[object] = []
    waiting: list[asyncio.Task[object]] = []
    for name, wants in steps:
        if wants:
            waiting.append(asyncio.create_task(slots.acquire(key(name))))
        elif held:
            slots.release(held.pop(0))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        held += [task.result() for task in waiting if task.done()]
        waiting = [task for task in waiting if not task.done()]
        assert len(set(map(id, held))) == len(held) <= number
        assert not (waiting and len(held) < number)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_background_work_waits_until_nobody_wants_an_answer() -> None:
    turns = Turns()
    await turns.quiet()
    with turns.answering():
        background = asyncio.create_task(turns.quiet())
        with turns.answering():
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not background.done()
    await background
