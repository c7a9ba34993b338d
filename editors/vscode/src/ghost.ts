/** Ghost text: long answers grow while they stream, and Esc ends the stream too. */
import * as vscode from "vscode";
import { InlineCompletionTriggerKind } from "vscode-languageclient/node";
import type { InlineCompletionParams } from "vscode-languageclient/node";
import type { Progress, Status } from "./protocol";
import type { Call } from "./server";

export type Suggestions = vscode.InlineCompletionItem[] | vscode.InlineCompletionList | null | undefined;

/** Asks the server; `adjust` may change the question before it goes out. */
export type Ask = (
  document: vscode.TextDocument,
  position: vscode.Position,
  context: vscode.InlineCompletionContext,
  token: vscode.CancellationToken,
  adjust: (params: InlineCompletionParams) => InlineCompletionParams,
) => Promise<Suggestions>;

/** Where the user last caused a question, and the generation that answers it. */
interface Followed {
  readonly uri: string;
  readonly version: number;
  readonly position: vscode.Position;
  id?: string;
}

export class Ghost implements vscode.InlineCompletionItemProvider, vscode.Disposable {
  private followed: Followed | undefined;
  /** The place of the suggestion that the user dismissed, until he asks elsewhere. */
  private dismissed: Followed | undefined;
  private current: Progress | undefined;
  /** True from our own asking again until VS Code passes the question on. */
  private asking = false;
  private answering = 0;
  private wanted = false;
  private registration: vscode.Disposable;

  constructor(
    private readonly extensionId: string,
    private readonly selector: vscode.DocumentSelector,
    private readonly ask: Ask,
    private readonly call: Call,
  ) {
    this.registration = this.register();
  }

  async provideInlineCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
    context: vscode.InlineCompletionContext,
    token: vscode.CancellationToken,
  ): Promise<Suggestions> {
    const again = this.asking && this.isHere(document, position);
    if (!again) {
      this.dismissed = undefined;
      this.followed = { uri: document.uri.toString(), version: document.version, position };
    }
    this.asking = false;
    this.answering++;
    try {
      return await this.ask(document, position, context, token, again ? automatic : (params) => params);
    } finally {
      this.answering--;
      this.askAgainIfWanted();
    }
  }

  onStatus(status: Status): void {
    const before = this.current;
    const now = status.generation?.kind === "complete" ? status.generation : undefined;
    this.current = now;
    if (now && this.dismissed?.uri === now.uri) {
      void this.stop(now);
      return;
    }
    const tokensBefore = now && before?.id === now.id ? (before.tokens ?? 0) : 0;
    // A stream that failed has nothing more to show.
    const grown = now ? (now.tokens ?? 0) > tokensBefore : before !== undefined && status.state !== "error";
    const generation = now ?? before;
    if (grown && generation && this.answersHere(generation)) {
      this.wanted = true;
      this.askAgainIfWanted();
    }
  }

  /** Hides the suggestion and ends the stream that it comes from, also when that is heard of only later. */
  async dismiss(): Promise<void> {
    this.dismissed = this.followed;
    this.followed = undefined;
    this.wanted = false;
    await vscode.commands.executeCommand("editor.action.inlineSuggest.hide");
    if (this.current) {
      await this.stop(this.current);
    }
  }

  private async stop(generation: Progress): Promise<void> {
    this.dismissed = undefined;
    this.current = undefined;
    await this.call("midstream.stop", { id: generation.id });
  }

  /**
   * Only the generation that the user's own question started is followed: another one would come from our
   * asking again, and following that could go on for ever.
   */
  private answersHere(generation: Progress): boolean {
    const here = this.followed;
    const editor = vscode.window.activeTextEditor;
    if (!here || !editor || here.uri !== generation.uri || editor.document.uri.toString() !== here.uri) {
      return false;
    }
    here.id ??= generation.id;
    return (
      here.id === generation.id &&
      editor.document.version === here.version &&
      editor.selection.isEmpty &&
      editor.selection.active.isEqual(here.position)
    );
  }

  private isHere(document: vscode.TextDocument, position: vscode.Position): boolean {
    const here = this.followed;
    const same = here?.uri === document.uri.toString() && here.version === document.version;
    return same && here.position.isEqual(position);
  }

  /**
   * One question at a time: a new one would cancel the one before. VS Code does not ask the same provider twice
   * at one place, hence a new registration each time; and on an explicit question it would keep what it shows.
   */
  private askAgainIfWanted(): void {
    if (!this.wanted || this.answering > 0 || this.asking) {
      return;
    }
    this.wanted = false;
    this.asking = true;
    const before = this.registration;
    this.registration = this.register();
    before.dispose();
    const again = { explicit: false, providerId: `${this.extensionId}:*` };
    void vscode.commands.executeCommand("editor.action.inlineSuggest.trigger", again).then(() => {
      this.asking = false;
    });
  }

  private register(): vscode.Disposable {
    return vscode.languages.registerInlineCompletionItemProvider(this.selector, this);
  }

  dispose(): void {
    this.registration.dispose();
  }
}

/** To the server our asking again is no wish of the user. */
function automatic(params: InlineCompletionParams): InlineCompletionParams {
  return { ...params, context: { ...params.context, triggerKind: InlineCompletionTriggerKind.Automatic } };
}
