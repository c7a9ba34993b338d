import assert from "node:assert/strict";
import { test } from "node:test";
import { lineHunks } from "../src/hunks";
import type { Hunk } from "../src/hunks";
import { Random } from "./random";

/** `before` with each hunk's lines replaced by those of `after`, from the bottom up. */
function applied(before: readonly string[], after: readonly string[], hunks: readonly Hunk[]): string[] {
  const result = [...before];
  for (const hunk of [...hunks].reverse()) {
    result.splice(hunk.oldStart, hunk.oldEnd - hunk.oldStart, ...after.slice(hunk.newStart, hunk.newEnd));
  }
  return result;
}

/** The hunks as `old lines > new lines`. */
function shown(before: string, after: string): string[] {
  const old = before.split(" ");
  const now = after.split(" ");
  return lineHunks(old, now).map(
    (hunk) =>
      `${old.slice(hunk.oldStart, hunk.oldEnd).join(" ")}>${now.slice(hunk.newStart, hunk.newEnd).join(" ")}`,
  );
}

test("equal texts have no hunks", () => {
  assert.deepEqual(shown("a b c", "a b c"), []);
});

test("an inserted, a removed and a changed line are hunks of their own", () => {
  assert.deepEqual(shown("a b c d e", "a x b d y"), [">x", "c>", "e>y"]);
});

test("a repeated line is not taken for another one", () => {
  assert.deepEqual(shown("a a a", "a a"), ["a>"]);
});

test("the hunks turn any text into any other and leave no common line between them", () => {
  const random = new Random(7);
  for (let round = 0; round < 500; round++) {
    const before = random.lines(12, "abc");
    const after = random.lines(12, "abc");
    const hunks = lineHunks(before, after);
    assert.deepEqual(applied(before, after, hunks), after);
    for (const [index, hunk] of hunks.entries()) {
      assert.ok(hunk.oldEnd > hunk.oldStart || hunk.newEnd > hunk.newStart);
      const next = hunks[index + 1];
      assert.ok(!next || (next.oldStart > hunk.oldEnd && next.newStart > hunk.newEnd));
    }
  }
});

test("two long texts without a common line are one hunk, at once", () => {
  const before = Array.from({ length: 5000 }, (_, index) => `a${index}`);
  const after = Array.from({ length: 5000 }, (_, index) => `b${index}`);
  assert.equal(lineHunks(before, after).length, 1);
});
