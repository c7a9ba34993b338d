/** Markdown pages that the extension shows beside the code: explanations, checks, prompts. */
import * as vscode from "vscode";
import type { Checkup } from "./protocol";

const SCHEME = "midstream";

export class Pages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "";
  }

  /** Shows a page rendered, in the column beside the active one; the same title replaces the page before. */
  async show(title: string, markdown: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${title}.md` });
    this.texts.set(uri.path, markdown);
    this.changed.fire(uri);
    await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }
}

/** The checks, each on a line, with what to do below a failed one. */
export function checkupPage(checkup: Checkup): string {
  const lines = checkup.checks.map((check) => {
    const mend = check.ok || check.mend === "" ? "" : `  \n  → ${check.mend}`;
    return `- ${check.ok ? "✓" : "**✗**"} **${check.name}**: ${check.found}${mend}`;
  });
  return `# Doctor\n\n${lines.join("\n")}\n`;
}

/** A prompt part by part, each word for word. */
export function promptPage(prompt: Record<string, unknown>): string {
  const parts = Object.entries(prompt)
    .filter((part): part is [string, string] => typeof part[1] === "string")
    .map(([name, text]) => `## ${capitalized(name)}\n\n\`\`\`\`\`text\n${text}\n\`\`\`\`\`\n`);
  return `# Prompt\n\nThis, and nothing else, would be sent for the code at the cursor.\n\n${parts.join("\n")}`;
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
