/** The input for an instruction, with the earlier ones below it. It stays open while the edit runs. */
import * as vscode from "vscode";

const HISTORY = "midstream.instructions";
const MAX_HISTORY = 50;

export interface PromptHandlers {
  readonly title: string;
  /** Called for each instruction; the input stays open. */
  readonly onInstruction: (instruction: string) => void;
  readonly onHide: () => void;
}

export class Prompt implements vscode.Disposable {
  private readonly pick = vscode.window.createQuickPick<vscode.QuickPickItem & { instruction?: string }>();
  private readonly history: string[];
  private running = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    handlers: PromptHandlers,
  ) {
    this.history = context.globalState.get<string[]>(HISTORY, []);
    this.pick.ignoreFocusOut = true;
    this.waiting(handlers.title);
    this.pick.onDidChangeValue(() => this.fill());
    this.pick.onDidAccept(() => {
      const instruction = this.pick.activeItems[0]?.instruction ?? this.pick.value.trim();
      if (instruction !== "") {
        this.remember(instruction);
        this.pick.value = "";
        handlers.onInstruction(instruction);
      }
    });
    this.pick.onDidHide(handlers.onHide);
    this.fill();
    this.pick.show();
  }

  /** Shows that an instruction is wanted. */
  waiting(title: string): void {
    this.pick.title = title;
    this.pick.placeholder = "What should change?";
    this.pick.busy = false;
  }

  /** Shows that an edit runs, and that a new instruction would redirect it; small, for the edit is to be seen. */
  working(instruction: string): void {
    this.running = true;
    this.fill();
    this.pick.title = `Midstream: ${instruction}`;
    this.pick.placeholder = "Type to redirect · Esc stops";
    this.pick.busy = true;
  }

  /** Takes the keyboard back. */
  focus(): void {
    this.pick.show();
  }

  dispose(): void {
    this.pick.dispose();
  }

  /** What is typed comes first, so that Enter takes it and not something like it. */
  private fill(): void {
    const typed = this.pick.value.trim();
    const first =
      typed === "" ? HINT : { label: typed, description: "Enter", alwaysShow: true, instruction: typed };
    const earlier = this.history
      .filter((instruction) => instruction !== typed)
      .map((instruction) => ({ label: `$(history) ${instruction}`, instruction }));
    this.pick.items = this.running && typed === "" ? [] : [first, ...earlier];
  }

  private remember(instruction: string): void {
    const others = this.history.filter((earlier) => earlier !== instruction);
    this.history.splice(0, this.history.length, instruction, ...others.slice(0, MAX_HISTORY - 1));
    void this.context.globalState.update(HISTORY, this.history);
  }
}

/** Keeps Enter on an empty input from repeating an earlier instruction. */
const HINT = { label: "$(pencil) Say what to change", description: "or choose an earlier instruction below" };
