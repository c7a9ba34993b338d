import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, cover, follow, replaceLines, splitLines } from "../src/region";
import type { Region } from "../src/region";
import { Random } from "./random";

type Range = Parameters<typeof changed>[1];

const range = (startLine: number, startCharacter: number, endLine: number, endCharacter: number): Range => ({
  start: { line: startLine, character: startCharacter },
  end: { line: endLine, character: endCharacter },
});

/** The document with the region's lines put back as they were. */
function restored(lines: readonly string[], region: Region): string[] {
  return [...lines.slice(0, region.start), ...region.base, ...lines.slice(region.end)];
}

class Buffer {
  region: Region | undefined;

  constructor(public lines: string[]) {}

  own(at: Range, text: string): void {
    this.region = cover(this.region, this.lines, at.start.line, at.end.line);
    this.foreign(at, text);
  }

  foreign(at: Range, text: string): void {
    const breaks = splitLines(text).length - 1;
    this.region =
      this.region && follow(this.region, this.lines, { from: at.start.line, to: at.end.line, breaks });
    this.lines = changed(this.lines, at, text);
  }
}

test("a change is applied across lines", () => {
  assert.deepEqual(changed(["one", "two", "three"], range(0, 1, 2, 2), "X\nY"), ["oX", "Yree"]);
});

test("the region keeps what stood there before the first patch", () => {
  const buffer = new Buffer(["a", "b", "c", "d"]);
  buffer.own(range(1, 0, 1, 1), "B1\nB2");
  buffer.own(range(3, 0, 3, 1), "C");
  assert.deepEqual(buffer.lines, ["a", "B1", "B2", "C", "d"]);
  assert.deepEqual(buffer.region, { start: 1, end: 4, base: ["b", "c"] });
});

test("what the user types above and below the region stays his", () => {
  const buffer = new Buffer(["a", "b", "c", "d"]);
  buffer.own(range(2, 0, 2, 1), "C");
  buffer.foreign(range(0, 1, 0, 1), "\nnew");
  buffer.foreign(range(4, 0, 4, 1), "D");
  assert.deepEqual(buffer.lines, ["a", "new", "b", "C", "D"]);
  assert.ok(buffer.region);
  assert.deepEqual(restored(buffer.lines, buffer.region), ["a", "new", "b", "c", "D"]);
});

test("putting the region back undoes any sequence of patches", () => {
  const random = new Random(11);
  for (let round = 0; round < 300; round++) {
    const before = ["x", ...random.lines(8, "abc")];
    const buffer = new Buffer(before);
    for (let step = 0; step < 6; step++) {
      const from = random.below(buffer.lines.length);
      const to = from + random.below(buffer.lines.length - from);
      const end = random.below((buffer.lines[to] ?? "").length + 1);
      const start = from === to ? random.below(end + 1) : random.below((buffer.lines[from] ?? "").length + 1);
      buffer.own(range(from, start, to, end), random.lines(3, "AB").join("\n"));
    }
    assert.ok(buffer.region);
    assert.deepEqual(restored(buffer.lines, buffer.region), before);
  }
});

test("lines are replaced in the middle, at the end, and as a whole", () => {
  const random = new Random(3);
  for (let round = 0; round < 300; round++) {
    const lines = ["x", ...random.lines(6, "abc")];
    const from = random.below(lines.length + 1);
    const to = from + random.below(lines.length - from + 1);
    const replacement = random.lines(3, "AB");
    const wanted = [...lines.slice(0, from), ...replacement, ...lines.slice(to)];
    const edit = replaceLines(lines, from, to, replacement, "\n");
    const at = range(edit.startLine, edit.startCharacter, edit.endLine, edit.endCharacter);
    // A text always has a line, if only an empty one.
    assert.deepEqual(changed(lines, at, edit.text), wanted.length === 0 ? [""] : wanted);
  }
});

test("inserted lines take the document's line ends", () => {
  assert.equal(replaceLines(["a", "b"], 1, 1, ["new"], "\r\n").text, "new\r\n");
  assert.equal(replaceLines(["a", "b"], 1, 2, ["new"], "\r\n").text, "\r\nnew");
});
