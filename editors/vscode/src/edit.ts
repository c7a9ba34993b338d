/** Edits by instruction: ask for one, redirect it, stop it, accept it, take it back. */
import * as vscode from "vscode";
import { showScope } from "./decorations";
import { log } from "./log";
import { Prompt } from "./prompt";
import type { Place, Result, Scope } from "./protocol";
import type { Reviews } from "./reviews";
import type { Call } from "./server";

/** The input that is open: for which document, and which edit it started. */
interface Session {
  readonly editor: vscode.TextEditor;
  readonly prompt: Prompt;
  /** The instruction under way; one that comes before the answer to the last waits for it. */
  id: Promise<string> | undefined;
}

export class Edits {
  private session: Session | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly call: Call,
    private readonly reviews: Reviews,
  ) {}

  /** Opens the input over the function at the cursor, or over the selection; a running edit is redirected. */
  async edit(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) {
      return;
    }
    if (this.session?.editor.document === editor.document) {
      this.session.prompt.focus();
      return;
    }
    if (this.reviews.of(editor.document)?.running) {
      this.openRedirect(editor);
      return;
    }
    const place = placeOf(editor);
    void this.call("midstream.prepare", place).catch((error: unknown) => {
      log.warn(`The code is not read ahead: ${messageOf(error)}`);
    });
    const scope = await this.scopeAt(place);
    const range = scope && toRange(scope.range);
    const name = scope?.name ?? (editor.selection.isEmpty ? "this code" : "the selection");
    this.open(editor, `Midstream: edit ${name}`, range, (instruction) =>
      this.call("midstream.edit", { ...place, instruction }),
    );
  }

  redirect(uri: string | undefined): void {
    const editor = editorOf(uri);
    if (editor && this.session?.editor.document === editor.document) {
      this.session.prompt.focus();
    } else if (editor) {
      this.openRedirect(editor);
    }
  }

  async stop(uri: string | undefined): Promise<void> {
    const session = this.session;
    if (session?.id) {
      await this.call("midstream.stop", { id: await session.id });
    } else if (editorOf(uri)) {
      await this.call("midstream.stop", targetOf(uri));
    }
    session?.prompt.dispose();
  }

  async accept(uri: string | undefined): Promise<void> {
    const target = targetOf(uri);
    this.reviews.close(target.uri);
    await this.call("midstream.accept", target);
  }

  /** What the user accepted change by change stays. */
  async revert(uri: string | undefined): Promise<void> {
    const target = targetOf(uri);
    const review = this.reviews.of(editorOf(uri)?.document);
    if (review?.isPartlyAccepted === true) {
      await review.rejectAll();
      await this.accept(target.uri);
      return;
    }
    const result = await this.call("midstream.revert", target);
    this.reviews.close(target.uri);
    say(result);
  }

  async escalate(uri: string | undefined): Promise<void> {
    const target = targetOf(uri);
    this.reviews.redirecting(target.uri);
    await this.call("midstream.escalate", target);
  }

  async acceptChange(uri: string | undefined, index: number | undefined): Promise<void> {
    const review = this.reviews.of(editorOf(uri)?.document);
    if (!review) {
      return;
    }
    review.accept(index ?? review.changeAt(cursorLine()));
    await this.finishIfEmpty(review.document.uri.toString());
  }

  async rejectChange(uri: string | undefined, index: number | undefined): Promise<void> {
    const review = this.reviews.of(editorOf(uri)?.document);
    if (review) {
      await review.reject(index ?? review.changeAt(cursorLine()));
    }
  }

  /** Moves the cursor to the change `step` further on. */
  goToChange(step: number): void {
    const editor = vscode.window.activeTextEditor;
    const review = this.reviews.active;
    if (!editor || !review || review.changes.length === 0) {
      return;
    }
    const line = editor.selection.active.line;
    const starts = review.changes.map((change) => change.start);
    const target =
      step > 0
        ? (starts.find((start) => start > line) ?? starts[0])
        : (starts.filter((start) => start < line).at(-1) ?? starts.at(-1));
    const position = new vscode.Position(target ?? line, 0);
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(
      new vscode.Range(position, position),
      vscode.TextEditorRevealType.InCenterIfOutsideViewport,
    );
  }

  async ended(result: Result): Promise<void> {
    const session = this.session;
    if (session?.id && (await session.id) === result.id && result.outcome !== "redirected") {
      session.prompt.dispose();
    }
    say(result);
  }

  private openRedirect(editor: vscode.TextEditor): void {
    const uri = editor.document.uri.toString();
    this.open(editor, "Midstream: redirect the edit", undefined, (instruction) => {
      this.reviews.redirecting(uri);
      return this.call("midstream.redirect", { uri, instruction });
    });
  }

  /** Each further instruction redirects the edit that the one before started. */
  private open(
    editor: vscode.TextEditor,
    title: string,
    range: vscode.Range | undefined,
    begin: (instruction: string) => Promise<{ id: string }>,
  ): void {
    this.session?.prompt.dispose();
    showScope(editor, range);
    const prompt = new Prompt(this.context, {
      title,
      onInstruction: (instruction) => void this.instruct(session, instruction, begin),
      onHide: () => {
        showScope(editor, undefined);
        prompt.dispose();
        if (this.session === session) {
          this.session = undefined;
          void vscode.commands.executeCommand("setContext", "midstream.prompting", false);
        }
      },
    });
    const session: Session = { editor, prompt, id: undefined };
    this.session = session;
  }

  private async instruct(
    session: Session,
    instruction: string,
    begin: (instruction: string) => Promise<{ id: string }>,
  ): Promise<void> {
    session.prompt.working(instruction);
    unsay();
    void vscode.commands.executeCommand("setContext", "midstream.prompting", true);
    const before = session.id;
    const next = async () => {
      if (!before) {
        return (await begin(instruction)).id;
      }
      this.reviews.redirecting(session.editor.document.uri.toString());
      return (await this.call("midstream.redirect", { id: await before, instruction })).id;
    };
    session.id = next();
    try {
      await session.id;
    } catch (error) {
      session.prompt.dispose();
      void vscode.window.showErrorMessage(`Midstream: ${messageOf(error)}`);
    }
  }

  /** The code that an edit would rewrite, as the server sees it. */
  private async scopeAt(place: Place): Promise<Scope | undefined> {
    try {
      return (await this.call("midstream.showPrompt", place)).scope;
    } catch (error) {
      log.warn(`The scope is not shown: ${messageOf(error)}`);
      return undefined;
    }
  }

  private async finishIfEmpty(uri: string): Promise<void> {
    const review = this.reviews.of(editorOf(uri)?.document);
    if (review?.changes.length === 0) {
      await this.accept(uri);
    } else {
      this.reviews.refresh();
    }
  }
}

/** The cursor of an editor, or its selection. */
export function placeOf(editor: vscode.TextEditor): Place {
  const uri = editor.document.uri.toString();
  const { start, end, active, isEmpty } = editor.selection;
  const position = (at: vscode.Position) => ({ line: at.line, character: at.character });
  return isEmpty
    ? { uri, position: position(active) }
    : { uri, range: { start: position(start), end: position(end) } };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function toRange(range: Scope["range"]): vscode.Range {
  const { start, end } = range;
  // The range ends before the first character of the line after the code.
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return new vscode.Range(start.line, 0, last, 0);
}

function editorOf(uri: string | undefined): vscode.TextEditor | undefined {
  return uri === undefined
    ? vscode.window.activeTextEditor
    : vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri);
}

function targetOf(uri: string | undefined): { uri: string } {
  return { uri: uri ?? vscode.window.activeTextEditor?.document.uri.toString() ?? "" };
}

function cursorLine(): number {
  return vscode.window.activeTextEditor?.selection.active.line ?? 0;
}

const SHOWN_MS = 8000;

let shown: vscode.Disposable | undefined;

/** Says what the user may not have seen; a failure is the server's own to report. */
function say(result: Result): void {
  const said: Partial<Record<Result["outcome"], string>> = {
    unchanged: "the model left the code as it is",
    typed_over: "your typing ended the edit; Redirect goes on with it",
    stopped: "stopped",
  };
  const text = result.message ?? said[result.outcome];
  unsay();
  if (text !== undefined) {
    shown = vscode.window.setStatusBarMessage(`Midstream: ${text}`, SHOWN_MS);
  }
}

/** Takes back what was said about an edit before. */
function unsay(): void {
  shown?.dispose();
  shown = undefined;
}
