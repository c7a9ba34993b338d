/** The status bar: what the server says about itself, and a menu behind it. */
import * as vscode from "vscode";
import type { Progress, State, Status } from "./protocol";

const ICONS: Record<State, string> = {
  starting: "$(loading~spin)",
  downloading: "$(cloud-download)",
  ready: "$(sparkle)",
  working: "$(sync~spin)",
  paused: "$(debug-pause)",
  error: "$(warning)",
};

const WORDS: Record<State, string> = {
  starting: "starting",
  downloading: "fetching the model",
  ready: "ready",
  working: "working",
  paused: "paused",
  error: "needs attention",
};

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(
    "midstream.status",
    vscode.StatusBarAlignment.Right,
    100,
  );
  /** What the last generation measured; it stays in sight until the next one, or until another model is used. */
  private measured: Progress | undefined;
  private cost: string | undefined;
  status: Status = { state: "starting" };

  constructor() {
    this.item.name = "Midstream";
    this.item.command = "midstream.showMenu";
    this.draw();
    this.item.show();
  }

  update(status: Status): void {
    if (status.model !== undefined && status.model !== this.status.model) {
      this.measured = undefined;
    }
    this.status = status;
    if (status.generation?.firstTokenMs !== undefined) {
      this.measured = status.generation;
    }
    this.draw();
  }

  /** In a workspace that the user did not trust, until he allows the server to start. */
  restricted(): void {
    this.item.text = "$(shield) Midstream";
    this.item.tooltip = "Midstream is off in this workspace, which is not trusted. Click to allow it.";
    this.item.command = "midstream.allow";
    this.item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    this.item.accessibilityInformation = {
      label: "Midstream: off in this workspace, not trusted",
      role: "button",
    };
  }

  /** What today has cost so far, ready to be shown. */
  showCost(cost: string | undefined): void {
    this.cost = cost;
    this.draw();
  }

  dispose(): void {
    this.item.dispose();
  }

  private draw(): void {
    const { state, model, percent, message } = this.status;
    // What went well before says nothing while something is the matter.
    const isWell = state === "ready" || state === "working";
    const measured = isWell ? this.measured : undefined;
    const parts = [
      state === "downloading" && percent !== undefined ? `${percent} %` : undefined,
      state === "downloading" || state === "paused" ? undefined : model,
      milliseconds(measured?.firstTokenMs),
      speed(measured?.tokensPerSecond),
      isWell ? this.cost : undefined,
    ].filter((part) => part !== undefined);
    const name = state === "paused" ? "Midstream paused" : "Midstream";
    this.item.text = `${ICONS[state]} ${parts.length > 0 ? parts.join(" · ") : name}`;
    this.item.tooltip = this.tooltip(message);
    this.item.command = "midstream.showMenu";
    this.item.backgroundColor =
      state === "error" ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    const spoken = [`Midstream: ${WORDS[state]}`, ...parts, message].filter((part) => part !== undefined);
    this.item.accessibilityInformation = { label: spoken.join(", "), role: "button" };
  }

  private tooltip(message: string | undefined): vscode.MarkdownString {
    const { state, model } = this.status;
    const text = new vscode.MarkdownString(`**Midstream** ${WORDS[state]}`);
    const rows = [
      ["Model", model],
      ["First token", milliseconds(this.measured?.firstTokenMs)],
      ["Speed", speed(this.measured?.tokensPerSecond)],
      ["Today", this.cost],
    ].filter(([, value]) => value !== undefined);
    if (rows.length > 0) {
      text.appendMarkdown(`\n\n${rows.map(([name, value]) => `${name}: ${value}`).join("  \n")}`);
    }
    if (message !== undefined) {
      text.appendMarkdown("\n\n").appendText(message);
    }
    return text;
  }
}

function milliseconds(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${Math.round(value)} ms`;
}

function speed(value: number | undefined): string | undefined {
  return value === undefined || value <= 0 ? undefined : `${Math.round(value)} tok/s`;
}
