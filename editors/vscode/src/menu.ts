/** The menu behind the status bar. */
import * as vscode from "vscode";
import type { Status } from "./protocol";
import type { Call } from "./server";

interface Entry extends vscode.QuickPickItem {
  readonly run?: () => unknown;
}

export async function showMenu(status: Status, call: Call): Promise<void> {
  const paused = status.state === "paused";
  const entries: Entry[] = [
    ...(status.message === undefined ? [] : [problem(status)]),
    {
      ...named(paused ? "debug-start" : "debug-pause", paused ? "Go On" : "Pause…"),
      description: paused ? "completions are paused" : "send nothing while you type",
      run: () => (paused ? call("midstream.pause", { minutes: 0 }) : pause(call)),
    },
    ...TASKS.map(({ task, title }) => ({
      ...named("server-process", title),
      description: vscode.workspace.getConfiguration("midstream").get<string>(`tasks.${task}`, ""),
      run: () => chooseModel(task, title),
    })),
    entry("graph", "Usage", "requests, tokens, cost and latency", "midstream.showUsage"),
    entry("pulse", "Doctor", "check the models, one line each", "midstream.showDoctor"),
    entry(
      "eye",
      "Show Prompt",
      "what would be sent for the code at the cursor",
      "midstream.showPromptAtCursor",
    ),
    entry("key", "Set Key…", "kept in the secret storage", "midstream.setKey"),
    entry("gear", "Settings", "", "workbench.action.openSettings", "midstream"),
    entry("output", "Log", "", "midstream.showLog"),
    entry("refresh", "Restart", "", "midstream.restart"),
  ];
  const choice = await vscode.window.showQuickPick(entries, { title: "Midstream", matchOnDescription: true });
  await choice?.run?.();
}

const TASKS = [
  { task: "complete", title: "Model for Completions" },
  { task: "edit", title: "Model for Edits" },
  { task: "explain", title: "Model for Explanations" },
  { task: "escalate", title: "Model to Think Harder" },
] as const;

function problem(status: Status): Entry {
  return {
    ...named("warning", status.message ?? ""),
    ...(status.command === undefined ? {} : { run: () => runRemedy(status.command ?? "") }),
  };
}

/** The server names its own commands; those that answer data have a view here. */
function runRemedy(command: string): Thenable<unknown> {
  const shown = command === "midstream.doctor" ? "midstream.showDoctor" : command;
  return vscode.commands.executeCommand(shown, {});
}

function entry(icon: string, label: string, description: string, command: string, ...args: unknown[]): Entry {
  return { ...named(icon, label), description, run: () => vscode.commands.executeCommand(command, ...args) };
}

/** An icon inside of a label would be spoken as a part of it. */
function named(icon: string, label: string): { label: string; iconPath: vscode.ThemeIcon } {
  return { label, iconPath: new vscode.ThemeIcon(icon) };
}

async function pause(call: Call): Promise<void> {
  const choices = [
    { label: "For 10 minutes", minutes: 10 },
    { label: "For an hour", minutes: 60 },
    { label: "Until I go on", minutes: undefined },
  ];
  const choice = await vscode.window.showQuickPick(choices, { title: "Midstream: Pause" });
  if (choice) {
    await call("midstream.pause", choice.minutes === undefined ? {} : { minutes: choice.minutes });
  }
}

async function chooseModel(task: string, title: string): Promise<void> {
  const configuration = vscode.workspace.getConfiguration("midstream");
  const models = configuration.get<Record<string, { protocol?: string; model?: string }>>("models", {});
  const names = [...new Set(["local", ...Object.keys(models)])];
  const current = configuration.get<string>(`tasks.${task}`, "");
  const items = names.map((label) => ({
    label,
    description: models[label]?.model ?? "",
    picked: label === current,
  }));
  const choice = await vscode.window.showQuickPick(items, {
    title: `Midstream: ${title}`,
    placeHolder: "Models are named in midstream.models",
  });
  if (choice) {
    await configuration.update(`tasks.${task}`, choice.label, vscode.ConfigurationTarget.Global);
  }
}
