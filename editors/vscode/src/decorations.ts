/** How an edit looks in the editor. */
import * as vscode from "vscode";
import type { Change } from "./review";

const color = (name: string) => new vscode.ThemeColor(`midstream.${name}`);

const scope = vscode.window.createTextEditorDecorationType({
  isWholeLine: true,
  backgroundColor: color("scopeBackground"),
  borderColor: color("scopeBorder"),
  borderStyle: "solid",
  borderWidth: "0 0 0 2px",
});

const inserted = vscode.window.createTextEditorDecorationType({
  isWholeLine: true,
  backgroundColor: color("insertedBackground"),
  borderColor: color("insertedBorder"),
  borderStyle: "solid",
  borderWidth: "0 0 0 2px",
  overviewRulerColor: color("insertedBorder"),
  overviewRulerLane: vscode.OverviewRulerLane.Left,
  rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
});

const removed = vscode.window.createTextEditorDecorationType({
  overviewRulerColor: color("removedForeground"),
  overviewRulerLane: vscode.OverviewRulerLane.Left,
});

const MAX_SHOWN = 60;

export function showScope(editor: vscode.TextEditor, range: vscode.Range | undefined): void {
  editor.setDecorations(scope, range ? [range] : []);
}

export function showChanges(editor: vscode.TextEditor, changes: readonly Change[]): void {
  editor.setDecorations(
    inserted,
    changes
      .filter((change) => change.end > change.start)
      .map((change) => lines(change.start, change.end - 1)),
  );
  const language = editor.document.languageId;
  const last = editor.document.lineCount - 1;
  editor.setDecorations(
    removed,
    changes
      .filter((change) => change.removed.length > 0)
      .map((change) => removedMark(change, last, language)),
  );
}

/** VS Code cannot show lines that are not there; so their text stands at the end of the line where they were. */
function removedMark(change: Change, last: number, language: string): vscode.DecorationOptions {
  const line = Math.min(change.start, last);
  const count = change.removed.length;
  const hover = new vscode.MarkdownString();
  hover.appendText(count === 1 ? "Removed:" : `Removed ${count} lines:`);
  hover.appendCodeblock(change.removed.join("\n"), language);
  return {
    range: lines(line, line),
    hoverMessage: hover,
    renderOptions: {
      after: {
        contentText: removedText(change, change.start > last),
        color: color("removedForeground"),
        margin: "0 0 0 3ch",
        fontStyle: "italic",
      },
    },
  };
}

/** In words, for a sign before the code would read as a part of it. */
function removedText(change: Change, isBelow: boolean): string {
  const count = change.removed.length;
  const only = count === 1 ? shortened((change.removed[0] ?? "").trim()) : "";
  if (change.end > change.start) {
    return only === "" ? `was ${count} ${count === 1 ? "line" : "lines"}` : `was: ${only}`;
  }
  const where = isBelow ? "below" : "above";
  return only === ""
    ? `${count} ${count === 1 ? "line" : "lines"} removed ${where}`
    : `removed ${where}: ${only}`;
}

function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}

function lines(from: number, to: number): vscode.Range {
  return new vscode.Range(from, 0, to, Number.MAX_SAFE_INTEGER);
}
