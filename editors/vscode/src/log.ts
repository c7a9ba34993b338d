/** The output channel "Midstream". */
import * as vscode from "vscode";

export const log = vscode.window.createOutputChannel("Midstream", { log: true });
