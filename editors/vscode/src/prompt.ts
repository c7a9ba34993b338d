/** The input for an instruction, with the earlier ones below it. It stays open while the edit runs. */
import * as vscode from "vscode";

const HISTORY = "midstream.instructions";
const MAX_HISTORY = 50;
/** More would lie over the code that the instruction is about. */
const MAX_SHOWN = 6;

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
      const typed = this.pick.value.trim();
      const chosen = this.pick.activeItems[0];
      // The list lags behind what is typed, so it counts only where it was made for just that.
      const instruction = chosen?.typed === typed ? (chosen.earlier ?? typed) : typed;
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

  /** The text as it is, then the earlier instructions that have it in them; only that while an edit runs. */
  private fill(): void {
    const typed = this.pick.value.trim();
    const part = typed.toLowerCase();
    const found = this.history.filter((each) => each !== typed && each.toLowerCase().includes(part));
    const earlier = this.running ? [] : found.slice(0, MAX_SHOWN).map((each) => entry(each, typed));
    if (typed !== "") {
      this.pick.items = [{ label: typed, description: "Enter", alwaysShow: true, typed }, ...earlier];
    } else {
      this.pick.items = earlier.length === 0 ? [] : [HINT, ...earlier];
    }
  }

  private remember(instruction: string): void {
    const others = this.history.filter((earlier) => earlier !== instruction);
    this.history.splice(0, this.history.length, instruction, ...others.slice(0, MAX_HISTORY - 1));
    void this.context.globalState.update(HISTORY, this.history);
  }
}

interface Entry extends vscode.QuickPickItem {
  /** What was typed when the list was made. */
  readonly typed?: string;
  /** The instruction of an entry of the history. */
  readonly earlier?: string;
}

/** The instruction stands in the description, so that VS Code does not search in it as well. */
function entry(earlier: string, typed: string): Entry {
  return { label: "$(history)", description: earlier, alwaysShow: true, typed, earlier };
}

/** Stands first, so that Enter on an empty input does not repeat an earlier instruction. */
const HINT: Entry = {
  label: "Say what to change",
  iconPath: new vscode.ThemeIcon("pencil"),
  description: "or choose an earlier instruction below",
};
