"""Requests and money in SQLite, shared by every editor of one user.

A request is reserved at its highest possible cost in the same transaction that checks the limits, and
settled at its true cost when it has ended: several editors together cannot cross a limit.
"""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lsp_server.engine.errors import BudgetExceeded
from lsp_server.engine.ports import Since, Usage
from lsp_server.engine.prices import NANO
from lsp_server.texts import models as texts

SCHEMA = """
CREATE TABLE IF NOT EXISTS request (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, day TEXT NOT NULL, model TEXT NOT NULL, remote INTEGER NOT NULL,
    task TEXT NOT NULL, state TEXT NOT NULL, estimated INTEGER NOT NULL, input INTEGER NOT NULL,
    cached INTEGER NOT NULL, output INTEGER NOT NULL, wasted INTEGER NOT NULL, nano INTEGER NOT NULL,
    first_ms REAL, total_ms REAL
);
CREATE INDEX IF NOT EXISTS request_by_day ON request (day);
CREATE TABLE IF NOT EXISTS spent (
    day TEXT NOT NULL, model TEXT NOT NULL, remote INTEGER NOT NULL, nano INTEGER NOT NULL,
    tokens INTEGER NOT NULL, PRIMARY KEY (day, model, remote)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS accepted (
    at REAL NOT NULL, day TEXT NOT NULL, model TEXT NOT NULL, task TEXT NOT NULL, since TEXT NOT NULL,
    lead_ms REAL
);
CREATE INDEX IF NOT EXISTS accepted_by_day ON accepted (day);
"""

RESERVE = """
INSERT INTO request (at, day, model, remote, task, state, estimated, input, cached, output, wasted, nano)
VALUES (?, ?, ?, ?, ?, 'reserved', 1, ?, 0, ?, 0, ?)
"""

SETTLE = """
UPDATE request SET state = ?, estimated = ?, input = ?, cached = ?, output = ?, wasted = ?, nano = ?,
    first_ms = ?, total_ms = ? WHERE id = ?
"""

ADD = """
INSERT INTO spent VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET nano = nano + excluded.nano, tokens = tokens + excluded.tokens
"""

PATIENCE = 5.0
"""Seconds to wait for another editor's transaction; each lasts well under a millisecond."""

KEPT_DAYS = 90
WARNING_AT = 0.8

State = Literal["done", "cancelled", "failed"]
Period = Literal["day", "month"]


@dataclass(frozen=True, slots=True)
class Cap:
    """One limit, in billionths of money or in tokens; `model` None means all that are not on this machine."""

    period: Period
    unit: Literal["money", "tokens"]
    limit: int
    model: str | None = None

    def applies_to(self, entry: "Entry") -> bool:
        return entry.remote if self.model is None else self.model == entry.model


@dataclass(frozen=True, slots=True)
class Entry:
    """Whose request it is."""

    model: str
    task: str
    remote: bool


@dataclass(frozen=True, slots=True)
class Reservation:
    """A request that may be sent. `warnings` are for the user: limits that are nearly reached."""

    id: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a request came to. `wasted` are output tokens that nobody saw the end of."""

    state: State
    usage: Usage
    nano: int
    wasted: int = 0
    first_ms: float | None = None
    total_ms: float | None = None


class Ledger:
    """One connection; not for use by several threads. Raises sqlite3.Error when the file cannot be used."""

    def __init__(self, path: Path | None) -> None:
        """`path` None keeps everything in memory."""
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = _open(path)

    def close(self) -> None:
        self._connection.close()

    def reserve(self, entry: Entry, bound: Usage, nano: int, caps: Sequence[Cap], now: float) -> Reservation:
        """Book the highest possible cost of a request. Raises BudgetExceeded when that crosses a limit."""
        tokens = bound.input_tokens + bound.output_tokens
        day = day_of(now)
        warnings = []
        with self._transaction():
            for cap in caps:
                if not cap.applies_to(entry):
                    continue
                used = self.used(cap, day)
                will_be = used + (nano if cap.unit == "money" else tokens)
                if cap.limit == 0 or cap.limit < will_be:
                    raise BudgetExceeded(refusal(cap, used))
                if cap.limit * WARNING_AT < will_be:
                    warnings.append(warning(cap))
            row = self._connection.execute(
                RESERVE,
                (now, day, entry.model, entry.remote, entry.task, *_tokens(bound), nano),
            )
            self._add(day, entry.model, entry.remote, nano, tokens)
        return Reservation(int(row.lastrowid or 0), tuple(warnings))

    def settle(self, id: int, settlement: Settlement) -> None:
        """Replace what was booked for a request by what it came to; a second time does nothing."""
        usage = settlement.usage
        with self._transaction():
            row = self._connection.execute(
                "SELECT * FROM request WHERE id = ? AND state = 'reserved'", (id,)
            ).fetchone()
            if row is None:
                return
            counts = usage.estimated, usage.input_tokens, usage.cached_tokens, usage.output_tokens
            times = settlement.first_ms, settlement.total_ms
            self._connection.execute(
                SETTLE, (settlement.state, *counts, settlement.wasted, settlement.nano, *times, id)
            )
            tokens = sum(_tokens(usage)) - row["input"] - row["output"]
            self._add(row["day"], row["model"], row["remote"], settlement.nano - row["nano"], tokens)

    def accept(self, model: str, task: str, since: Since, lead_ms: float | None, now: float) -> None:
        """Note that the user took a suggestion or an edit, `lead_ms` after the request or the diagnostic."""
        values = (now, day_of(now), model, task, since, lead_ms)
        self._connection.execute("INSERT INTO accepted VALUES (?, ?, ?, ?, ?, ?)", values)

    def used(self, cap: Cap, day: str) -> int:
        """What is booked under a limit, open reservations included."""
        column = "nano" if cap.unit == "money" else "tokens"
        scope, value = ("remote = ?", 1) if cap.model is None else ("model = ?", cap.model)
        # Days are compared as text: every day of a month lies between `2026-11` and `2026-11~`.
        first, last = (day, day) if cap.period == "day" else (day[:7], f"{day[:7]}~")
        row = self._connection.execute(
            f"SELECT coalesce(sum({column}), 0) FROM spent WHERE ? <= day AND day <= ? AND {scope}",
            (first, last, value),
        ).fetchone()
        return int(row[0])

    def requests_since(self, day: str) -> list[sqlite3.Row]:
        """The requests of a day and all later ones."""
        return self._connection.execute("SELECT * FROM request WHERE day >= ? ORDER BY id", (day,)).fetchall()

    def accepted_since(self, day: str) -> list[sqlite3.Row]:
        """What the user took on a day and all later ones."""
        return self._connection.execute(
            "SELECT * FROM accepted WHERE day >= ? ORDER BY at", (day,)
        ).fetchall()

    def forget_before(self, now: float) -> None:
        """Drop single requests that are older than KEPT_DAYS; the sums of each day stay."""
        oldest = day_of(now - KEPT_DAYS * 86400)
        with self._transaction():
            self._connection.execute("DELETE FROM request WHERE day < ?", (oldest,))
            self._connection.execute("DELETE FROM accepted WHERE day < ?", (oldest,))

    def _add(self, day: str, model: str, remote: bool, nano: int, tokens: int) -> None:
        self._connection.execute(ADD, (day, model, remote, nano, tokens))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """The write lock is taken at once: what is read inside cannot change before the commit."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def day_of(now: float) -> str:
    """The local calendar day, as `2026-11-30`."""
    return time.strftime("%Y-%m-%d", time.localtime(now))


def refusal(cap: Cap, used: int) -> str:
    """Why a request is not sent."""
    key = f"budget.per{cap.period.capitalize()}"
    if cap.limit == 0:
        return texts.LIMIT_IS_ZERO.format(limit=_name(cap), key=key)
    limit, spent = _amount(cap, cap.limit), _amount(cap, used)
    return texts.LIMIT_CROSSED.format(limit=_name(cap), amount=limit, spent=spent, key=key)


def warning(cap: Cap) -> str:
    """The sentence at 80 % of a limit."""
    return texts.LIMIT_NEAR.format(limit=_name(cap), amount=_amount(cap, cap.limit))


def money(nano: int) -> str:
    """An amount for people: two decimals, four below one cent."""
    amount = nano / NANO
    return f"{amount:.4f}" if 0 < amount < 0.01 else f"{amount:.2f}"


def _name(cap: Cap) -> str:
    return texts.BUDGET_PER.format(period=cap.period) + (f" of {cap.model}" if cap.model is not None else "")


def _amount(cap: Cap, value: int) -> str:
    return money(value) if cap.unit == "money" else f"{value} tokens"


def _tokens(usage: Usage) -> tuple[int, int]:
    return usage.input_tokens, usage.output_tokens


def open_ledger(path: Path | None) -> Ledger:
    """The ledger of a file; a file that is damaged is put aside and begun anew."""
    try:
        return Ledger(path)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        if path is None:
            raise
        path.replace(path.with_name(f"{path.name}.damaged"))
        return Ledger(path)


def _open(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(path or ":memory:", timeout=PATIENCE, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        _use_write_ahead_log(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """SQLite does not wait when two processes switch the mode of a new file at once, so we do."""
    for pause in (0.01, 0.03, 0.1, 0.3, 1.0):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            time.sleep(pause)
    connection.execute("PRAGMA journal_mode = WAL")
