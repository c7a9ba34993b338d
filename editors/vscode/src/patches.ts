/** Serves `midstream/applyPatch`: lands each patch of a streamed edit, all of them as one undo step. */
import * as vscode from "vscode";
import type { Applied, Patch } from "./protocol";

export class Patches {
  /** Those who wait until the change that makes this version of a document was reported. */
  private waiting: Waiter[] = [];

  constructor(private readonly onLand: (document: vscode.TextDocument, patch: Patch) => void) {}

  readonly apply = async (patch: Patch): Promise<Applied> => {
    const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === patch.uri);
    if (document?.version !== patch.version) {
      return { applied: false };
    }
    this.onLand(document, patch);
    let stop = (): void => undefined;
    const reported = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const waiter = { uri: patch.uri, version: patch.version + 1, resolve: stop };
    this.waiting.push(waiter);
    const applied = await land(document, patch);
    if (applied) {
      await reported;
    } else {
      this.waiting = this.waiting.filter((other) => other !== waiter);
    }
    return { applied };
  };

  /** Goes around the client's own reporting of a change, so that the answer to a patch comes after it. */
  readonly didChange = async (
    event: vscode.TextDocumentChangeEvent,
    next: (event: vscode.TextDocumentChangeEvent) => Promise<void>,
  ): Promise<void> => {
    const uri = event.document.uri.toString();
    const version = event.document.version;
    await next(event);
    this.release(uri, version);
  };

  private release(uri: string, version: number): void {
    const ready = this.waiting.filter((waiter) => waiter.uri === uri && waiter.version <= version);
    this.waiting = this.waiting.filter((waiter) => !ready.includes(waiter));
    ready.forEach((waiter) => waiter.resolve());
  }
}

interface Waiter {
  readonly uri: string;
  readonly version: number;
  readonly resolve: () => void;
}

/**
 * The change itself; refused by VS Code when the document changed in the meantime. No undo stop is needed after
 * the last one: VS Code puts one before whatever the user does next.
 */
async function land(document: vscode.TextDocument, patch: Patch): Promise<boolean> {
  const { start, end } = patch.range;
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  const editor = vscode.window.visibleTextEditors.find((visible) => visible.document === document);
  if (editor) {
    const undo = { undoStopBefore: patch.first, undoStopAfter: false };
    return editor.edit((builder) => builder.replace(range, patch.newText), undo);
  }
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, range, patch.newText);
  return vscode.workspace.applyEdit(edit);
}
