/** The "Midstream: Usage" view: figures of today and of the last days, drawn without scripts. */
import * as crypto from "node:crypto";
import * as vscode from "vscode";
import { money, usagePage } from "./plots";
import type { Usage } from "./plots";
import type { Call } from "./server";

export class UsageView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;

  constructor(private readonly call: Call) {}

  async show(): Promise<void> {
    this.panel ??= this.create();
    this.panel.reveal();
    await this.refresh();
  }

  async refresh(): Promise<void> {
    if (this.panel) {
      const usage = await this.call("midstream.usage", {});
      this.panel.webview.html = usagePage(usage, crypto.randomUUID());
    }
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private create(): vscode.WebviewPanel {
    const panel = vscode.window.createWebviewPanel(
      "midstream.usage",
      "Midstream: Usage",
      vscode.ViewColumn.Active,
      {
        enableScripts: false,
        localResourceRoots: [],
      },
    );
    panel.onDidDispose(() => (this.panel = undefined));
    return panel;
  }
}

/** What today has cost, short enough for the status bar; undefined when nothing is charged. */
export function costOfToday(usage: Usage): string | undefined {
  const cost = usage.today?.total?.cost ?? 0;
  return cost > 0 ? `${money(cost)} ${usage.currency ?? ""}`.trim() : undefined;
}
