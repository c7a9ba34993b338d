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
  private readonly pick = vscode.window.createQuickPick<Entry>();
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
      // The list lags behind what is typed, so it counts only as long as nothing is.
      const typed = this.pick.value.trim();
      const instruction = typed === "" ? this.pick.selectedItems[0]?.earlier : typed;
      if (instruction !== undefined) {
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

  private fill(): void {
    const typed = this.pick.value.trim();
    if (typed !== "") {
      this.pick.items = [{ label: typed, description: "Enter", alwaysShow: true }];
    } else {
      // What stands in the description is not searched: typing hides the history at once.
      const entry = (earlier: string): Entry => ({ label: "$(history)", description: earlier, earlier });
      this.pick.items = this.running ? [] : [HINT, ...this.history.map(entry)];
    }
  }

  private remember(instruction: string): void {
    const others = this.history.filter((earlier) => earlier !== instruction);
    this.history.splice(0, this.history.length, instruction, ...others.slice(0, MAX_HISTORY - 1));
    void this.context.globalState.update(HISTORY, this.history);
  }
}

interface Entry extends vscode.QuickPickItem {
  /** The instruction of an entry of the history. */
  readonly earlier?: string;
}

/** Stands first, so that Enter on an empty input does not repeat an earlier instruction. */
const HINT: Entry = {
  label: "$(pencil) Say what to change",
  description: "or choose an earlier instruction below",
};
