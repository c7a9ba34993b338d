/** Line differences between what stood there and what stands there now. */

/** `before[oldStart, oldEnd)` became `after[newStart, newEnd)`; zero-based, ends exclusive. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** More cells than this are not worth a table: the whole middle counts as one hunk. */
const MAX_CELLS = 4_000_000;

/** The hunks that turn `before` into `after`, from top to bottom. */
export function lineHunks(before: readonly string[], after: readonly string[]): Hunk[] {
  let head = 0;
  const shorter = Math.min(before.length, after.length);
  while (head < shorter && before[head] === after[head]) {
    head++;
  }
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) {
    tail++;
  }
  const old = before.slice(head, before.length - tail);
  const now = after.slice(head, after.length - tail);
  return grouped(commonLines(old, now), old.length, now.length).map((hunk) => ({
    oldStart: hunk.oldStart + head,
    oldEnd: hunk.oldEnd + head,
    newStart: hunk.newStart + head,
    newEnd: hunk.newEnd + head,
  }));
}

/** Pairs of equal lines, a longest common subsequence. */
function commonLines(old: readonly string[], now: readonly string[]): [number, number][] {
  const width = now.length + 1;
  if (old.length === 0 || now.length === 0 || old.length * now.length > MAX_CELLS) {
    return [];
  }
  const longest = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  let i = 0;
  let j = 0;
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) {
      pairs.push([i++, j++]);
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      i++;
    } else {
      j++;
    }
  }
  return pairs;
}

/** What lies between the common lines. */
function grouped(pairs: readonly [number, number][], oldLength: number, newLength: number): Hunk[] {
  const hunks: Hunk[] = [];
  let oldStart = 0;
  let newStart = 0;
  for (const [oldEnd, newEnd] of [...pairs, [oldLength, newLength] as const]) {
    if (oldEnd > oldStart || newEnd > newStart) {
      hunks.push({ oldStart, oldEnd, newStart, newEnd });
    }
    oldStart = oldEnd + 1;
    newStart = newEnd + 1;
  }
  return hunks;
}
