/** The edits under way or waiting to be accepted, one per document, and what is shown of them. */
import * as vscode from "vscode";
import { showChanges } from "./decorations";
import type { Patch, Result } from "./protocol";
import { Review } from "./review";

export class Reviews implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly reviews = new Map<string, Review>();
  private readonly lensesChanged = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  readonly onDidChangeCodeLenses = this.lensesChanged.event;

  constructor() {
    this.subscriptions = [
      this.lensesChanged,
      vscode.languages.registerCodeLensProvider("*", this),
      vscode.workspace.onDidChangeTextDocument((event) => this.documentChanged(event)),
      vscode.workspace.onDidCloseTextDocument((document) => this.reviews.delete(document.uri.toString())),
      vscode.window.onDidChangeActiveTextEditor(() => this.refresh()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.refresh()),
    ];
  }

  of(document: vscode.TextDocument | undefined): Review | undefined {
    return document && this.reviews.get(document.uri.toString());
  }

  /** The review of the editor that has the focus. */
  get active(): Review | undefined {
    return this.of(vscode.window.activeTextEditor?.document);
  }

  /** The next generation of the document goes on from what the last one left. */
  redirecting(uri: string | undefined): void {
    const review = uri === undefined ? this.active : this.reviews.get(uri);
    if (review) {
      review.redirecting = true;
    }
  }

  expect(document: vscode.TextDocument, patch: Patch): void {
    let review = this.of(document);
    if (!review || (review.generation !== patch.generation && !review.redirecting)) {
      review = new Review(document, patch.generation);
      this.reviews.set(patch.uri, review);
    }
    if (review.generation !== patch.generation || !review.running) {
      review.generation = patch.generation;
      review.redirecting = false;
      review.running = true;
      review.isTypedOn = false;
    }
    review.expect(patch);
  }

  ended(result: Result): void {
    const review = this.reviews.get(result.uri);
    if (review && (review.generation === result.id || review.redirecting)) {
      review.generation = result.id;
      // A redirected edit goes on under another id.
      review.redirecting = result.outcome === "redirected";
      review.running = review.redirecting;
    }
    this.refresh();
  }

  /** Forgets the review of a document: it was accepted or taken back. */
  close(uri: string): void {
    this.reviews.delete(uri);
    this.refresh();
  }

  /** The server is gone, and its edits with it. */
  interrupted(): void {
    for (const review of this.reviews.values()) {
      review.running = false;
    }
    this.refresh();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const review = this.of(document);
    if (!review || review.changes.length === 0) {
      return [];
    }
    const uri = document.uri.toString();
    const last = document.lineCount - 1;
    return review.changes.flatMap((change, index) => {
      const line = Math.min(change.start, last);
      const range = new vscode.Range(line, 0, line, 0);
      const commands = [
        ...(index === 0 ? headCommands(review, uri) : []),
        ...(review.running || review.changes.length === 1 ? [] : changeCommands(uri, index)),
      ];
      return commands.map((command) => new vscode.CodeLens(range, command));
    });
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  private documentChanged(event: vscode.TextDocumentChangeEvent): void {
    const review = this.of(event.document);
    if (!review || event.contentChanges.length === 0) {
      return;
    }
    review.documentChanged(event.contentChanges);
    if (!review.running && !review.redirecting && review.changes.length === 0) {
      this.reviews.delete(event.document.uri.toString());
    }
    this.refresh();
  }

  refresh(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      showChanges(editor, this.of(editor.document)?.changes ?? []);
    }
    const active = this.active;
    const shown = active !== undefined && active.changes.length > 0;
    const isReviewing = shown && !active.running;
    setContext("midstream.editing", active?.running ?? false);
    setContext("midstream.reviewing", isReviewing);
    setContext("midstream.tabAccepts", isReviewing && !active.isTypedOn);
    this.lensesChanged.fire();
  }
}

function setContext(name: string, value: boolean): void {
  void vscode.commands.executeCommand("setContext", name, value);
}

function headCommands(review: Review, uri: string): vscode.Command[] {
  const redirect = lens("comment", "Redirect", "midstream.redirectEdit", uri);
  if (review.running) {
    const stop = lens("debug-stop", "Stop (Esc)", "midstream.stopEdit", uri);
    return [lens("sync~spin", "Midstream is editing", ""), stop, redirect];
  }
  const all = review.changes.length > 1 ? " All" : "";
  return [
    lens("check", `Accept${all}${review.isTypedOn ? "" : " (Tab)"}`, "midstream.acceptEdit", uri),
    lens("discard", `Revert${all}`, "midstream.revertEdit", uri),
    redirect,
    lens("lightbulb", "Think Harder", "midstream.thinkHarder", uri),
  ];
}

function changeCommands(uri: string, index: number): vscode.Command[] {
  return [
    lens("check", "Accept This", "midstream.acceptChange", uri, index),
    lens("discard", "Reject This", "midstream.rejectChange", uri, index),
  ];
}

/** VS Code drops a plain blank behind an icon. */
function lens(icon: string, title: string, command: string, ...args: unknown[]): vscode.Command {
  return { title: `$(${icon})\u00a0${title}`, command, arguments: args };
}
