/** What the edits of a document have changed, until the user accepts it or takes it back. */
import * as vscode from "vscode";
import { lineHunks } from "./hunks";
import type { Hunk } from "./hunks";
import type { Patch } from "./protocol";
import { changed, cover, follow, replaceLines, splitLines } from "./region";
import type { LineChange, Region } from "./region";

/** A hunk at the lines of the document where it stands now. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly removed: readonly string[];
}

export class Review {
  running = true;
  /** The next generation goes on where this one was interrupted. */
  redirecting = false;
  /** Some of the edit is the user's own by now. */
  isPartlyAccepted = false;
  /** The user has typed since the edit began, so that Tab is an ordinary key again. */
  isTypedOn = false;
  changes: readonly Change[] = [];
  private region: Region | undefined;
  /** The change that is about to come from us. */
  private expected: vscode.Range | undefined;
  private puttingBack = false;
  private hunks: readonly Hunk[] = [];
  /** The document as it was before the next change; VS Code tells only what it is after it. */
  private lines: readonly string[];

  constructor(
    readonly document: vscode.TextDocument,
    public generation: string,
  ) {
    this.lines = splitLines(document.getText());
  }

  /** A patch is about to land: from here on its lines belong to the edit. */
  expect(patch: Patch): void {
    const { start, end } = patch.range;
    this.expected = new vscode.Range(start.line, start.character, end.line, end.character);
    this.region = cover(this.region, this.lines, start.line, Math.min(end.line, this.lines.length - 1));
  }

  documentChanged(changes: readonly vscode.TextDocumentContentChangeEvent[]): void {
    const only = changes.length === 1 ? changes[0] : undefined;
    const isOurs = this.puttingBack || (only !== undefined && this.expected?.isEqual(only.range) === true);
    this.expected = undefined;
    this.isTypedOn ||= !isOurs;
    for (const change of changes) {
      const lines = this.lines;
      const lineChange: LineChange = {
        from: change.range.start.line,
        to: change.range.end.line,
        breaks: splitLines(change.text).length - 1,
      };
      this.region = this.region && follow(this.region, lines, lineChange);
      this.lines = changed(lines, change.range, change.text);
    }
    this.compare();
  }

  /** The change at a line, or the next one below it, or else the first. */
  changeAt(line: number): number {
    const found = this.changes.findIndex((change) => line <= Math.max(change.end - 1, change.start));
    return found === -1 ? 0 : found;
  }

  /** Counts a change as accepted: what stands there now is what will have stood there. */
  accept(index: number): void {
    const hunk = this.hunks[index];
    if (hunk && this.region) {
      const { base, start } = this.region;
      const accepted = this.lines.slice(start + hunk.newStart, start + hunk.newEnd);
      const rest = base.slice(hunk.oldEnd);
      this.isPartlyAccepted = true;
      this.region = { ...this.region, base: [...base.slice(0, hunk.oldStart), ...accepted, ...rest] };
      this.compare();
    }
  }

  /** Puts the lines of one change back. */
  async reject(index: number): Promise<void> {
    const change = this.changes[index];
    if (change) {
      await this.putBack([change]);
    }
  }

  /** Puts the lines of all changes back that are not accepted yet. */
  async rejectAll(): Promise<void> {
    await this.putBack(this.changes);
  }

  private async putBack(changes: readonly Change[]): Promise<void> {
    const eol = this.document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n";
    const edit = new vscode.WorkspaceEdit();
    for (const change of changes) {
      const back = replaceLines(this.lines, change.start, change.end, change.removed, eol);
      const range = new vscode.Range(back.startLine, back.startCharacter, back.endLine, back.endCharacter);
      edit.replace(this.document.uri, range, back.text);
    }
    this.puttingBack = true;
    try {
      await vscode.workspace.applyEdit(edit);
    } finally {
      this.puttingBack = false;
    }
  }

  private compare(): void {
    const region = this.region;
    if (!region) {
      return;
    }
    this.hunks = lineHunks(region.base, this.lines.slice(region.start, region.end));
    this.changes = this.hunks.map((hunk) => ({
      start: region.start + hunk.newStart,
      end: region.start + hunk.newEnd,
      removed: region.base.slice(hunk.oldStart, hunk.oldEnd),
    }));
  }
}
