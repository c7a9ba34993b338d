/** Keys in VS Code's secret storage, handed to the server in its environment. */
import * as vscode from "vscode";

const INDEX = "midstream.keys";
const PREFIX = "midstream.key.";

export class Secrets {
  constructor(private readonly context: vscode.ExtensionContext) {}

  /** The names under which keys are kept; the keys themselves stay in the storage. */
  names(): string[] {
    return this.context.globalState.get<string[]>(INDEX, []);
  }

  async environment(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const name of this.names()) {
      const value = await this.context.secrets.get(PREFIX + name);
      if (value !== undefined) {
        found[name] = value;
      }
    }
    return found;
  }

  /** Asks for a key; true when one was stored or removed. */
  async ask(): Promise<boolean> {
    const name = await this.askName();
    if (name === undefined) {
      return false;
    }
    const value = await vscode.window.showInputBox({
      title: `Midstream: ${name}`,
      prompt: `The key, kept in VS Code's secret storage. Leave it empty to remove it.`,
      password: true,
      ignoreFocusOut: true,
    });
    if (value === undefined) {
      return false;
    }
    const others = this.names().filter((known) => known !== name);
    if (value === "") {
      await this.context.secrets.delete(PREFIX + name);
      await this.context.globalState.update(INDEX, others);
    } else {
      await this.context.secrets.store(PREFIX + name, value);
      await this.context.globalState.update(INDEX, [...others, name].sort());
    }
    return true;
  }

  private async askName(): Promise<string | undefined> {
    const stored = this.names();
    const wanted = configuredNames().filter((name) => !stored.includes(name));
    const other = "Another name…";
    const items = [
      ...stored.map((label) => ({ label, description: "stored" })),
      ...wanted.map((label) => ({ label, description: "named in midstream.models" })),
      { label: other, description: "an environment variable of the server" },
    ];
    const choice = await vscode.window.showQuickPick(items, {
      title: "Midstream: Set Key",
      placeHolder: "A model names its key as env:NAME",
    });
    if (choice?.label !== other) {
      return choice?.label;
    }
    return vscode.window.showInputBox({
      title: "Midstream: Set Key",
      prompt: "Name of the environment variable, for example OPENAI_API_KEY",
      validateInput: (text) =>
        /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? undefined : "Letters, digits and _ only",
    });
  }
}

/** The variables that the configured models name as `env:NAME`. */
function configuredNames(): string[] {
  const models = vscode.workspace
    .getConfiguration("midstream")
    .get<Record<string, { key?: unknown }>>("models", {});
  const names = Object.values(models)
    .map((model) => (typeof model.key === "string" ? /^env:(.+)$/.exec(model.key)?.[1] : undefined))
    .filter((name): name is string => name !== undefined);
  return [...new Set(names)].sort();
}
