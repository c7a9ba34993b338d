/** The lines that an edit has touched, followed through every later change. */

/** `lines[start, end)` of the document are what became of `base`. */
export interface Region {
  readonly start: number;
  readonly end: number;
  readonly base: readonly string[];
}

/** A replacement of lines `from` to `to` (inclusive, zero-based) by a text that has `breaks` line ends. */
export interface LineChange {
  readonly from: number;
  readonly to: number;
  readonly breaks: number;
}

/** The region with lines `from` to `to` inside; what lies outside it is still as it was. */
export function cover(
  region: Region | undefined,
  lines: readonly string[],
  from: number,
  to: number,
): Region {
  if (!region) {
    return { start: from, end: to + 1, base: lines.slice(from, to + 1) };
  }
  const start = Math.min(region.start, from);
  const end = Math.max(region.end, to + 1);
  return {
    start,
    end,
    base: [...lines.slice(start, region.start), ...region.base, ...lines.slice(region.end, end)],
  };
}

/** The region after a change of the edit itself; `lines` are those before it. */
export function grow(region: Region | undefined, lines: readonly string[], change: LineChange): Region {
  const covered = cover(region, lines, change.from, change.to);
  return { ...covered, end: covered.end + change.breaks - (change.to - change.from) };
}

/** The region after a change of somebody else: moved by one above it, left by one below it. */
export function follow(region: Region, lines: readonly string[], change: LineChange): Region {
  const added = change.breaks - (change.to - change.from);
  if (change.to < region.start) {
    return { ...region, start: region.start + added, end: region.end + added };
  }
  if (change.from >= region.end) {
    return region;
  }
  return grow(region, lines, change);
}

/** The lines of the document after a change. */
export function changed(
  lines: readonly string[],
  range: { start: { line: number; character: number }; end: { line: number; character: number } },
  text: string,
): string[] {
  const head = (lines[range.start.line] ?? "").slice(0, range.start.character);
  const tail = (lines[range.end.line] ?? "").slice(range.end.character);
  const middle = splitLines(head + text + tail);
  return [...lines.slice(0, range.start.line), ...middle, ...lines.slice(range.end.line + 1)];
}

/** The lines of a text without their ends, as VS Code counts them. */
export function splitLines(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

/** A replacement in terms of positions. */
export interface Replacement {
  readonly startLine: number;
  readonly startCharacter: number;
  readonly endLine: number;
  readonly endCharacter: number;
  readonly text: string;
}

/** How to put `replacement` in place of `lines[from, to)`; the last line has no line end to take along. */
export function replaceLines(
  lines: readonly string[],
  from: number,
  to: number,
  replacement: readonly string[],
  eol: string,
): Replacement {
  if (to < lines.length) {
    const text = replacement.map((line) => line + eol).join("");
    return { startLine: from, startCharacter: 0, endLine: to, endCharacter: 0, text };
  }
  const last = Math.max(lines.length - 1, 0);
  const end = { endLine: last, endCharacter: lines[last]?.length ?? 0 };
  if (from === 0) {
    return { startLine: 0, startCharacter: 0, ...end, text: replacement.join(eol) };
  }
  return {
    startLine: from - 1,
    startCharacter: lines[from - 1]?.length ?? 0,
    ...end,
    text: replacement.map((line) => eol + line).join(""),
  };
}
