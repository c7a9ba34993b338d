/** The first start, and the choice of a Python. */
import * as vscode from "vscode";

const WELCOMED = "midstream.welcomed";

/** Shows the walkthrough once; where code is open already, it only offers it. */
export async function welcome(context: vscode.ExtensionContext): Promise<void> {
  if (context.globalState.get(WELCOMED) === true) {
    return;
  }
  await context.globalState.update(WELCOMED, true);
  const show = "Show Me Around";
  const wanted =
    vscode.window.activeTextEditor === undefined ||
    (await vscode.window.showInformationMessage("Midstream is ready.", show)) === show;
  if (wanted) {
    await vscode.commands.executeCommand(
      "workbench.action.openWalkthrough",
      `${context.extension.id}#start`,
      false,
    );
  }
}

export async function chooseInterpreter(): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    title: "Choose a Python, 3.11 or newer",
    openLabel: "Use This Python",
    canSelectMany: false,
  });
  const path = chosen?.[0]?.fsPath;
  if (path !== undefined) {
    // The changed setting restarts the server.
    const configuration = vscode.workspace.getConfiguration("midstream");
    await configuration.update("server.python", path, vscode.ConfigurationTarget.Global);
  }
}
