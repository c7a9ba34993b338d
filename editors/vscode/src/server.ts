/** The server's life: start, stop, restart, and what to do when it dies. */
import * as vscode from "vscode";
import {
  CloseAction,
  DidChangeConfigurationNotification,
  ErrorAction,
  InlineCompletionRequest,
  LanguageClient,
  State,
} from "vscode-languageclient/node";
import type { Middleware, StaticFeature } from "vscode-languageclient/node";
import type { Ask } from "./ghost";
import { NoServer, locateServer } from "./install";
import type { ServerCommand } from "./install";
import { log } from "./log";
import { ApplyPatchRequest, CAPABILITIES, EndedNotification, StatusNotification } from "./protocol";
import type { Applied, Commands, Patch, Result, Status } from "./protocol";
import type { Secrets } from "./secrets";
import { serverSettings, setValues } from "./settings";

/** Calls one of the server's commands. */
export type Call = <Name extends keyof Commands>(
  name: Name,
  argument: Commands[Name][0],
) => Promise<Commands[Name][1]>;

export interface Handlers {
  readonly middleware: Middleware;
  readonly applyPatch: (patch: Patch) => Promise<Applied>;
  readonly onStatus: (status: Status) => void;
  readonly onEnded: (result: Result) => void;
}

/** More crashes than this within the time below, and the server stays down until the user asks. */
const MAX_CRASHES = 4;
const CRASH_WINDOW_MS = 180_000;

/** Settings that are read only at the start. */
const READ_AT_START = ["midstream.models", "midstream.budget", "midstream.checks", "midstream.log"];

function startSettings(names: readonly string[]): string {
  const own = vscode.workspace.getConfiguration("midstream.server");
  const read = names.filter((name) => READ_AT_START.some((group) => name.startsWith(group)));
  return JSON.stringify([own.get("path"), own.get("python"), setValues(read, undefined)]);
}

/** Notebook cells are documents of their own. */
export const DOCUMENTS = [{ scheme: "file" }, { scheme: "untitled" }, { scheme: "vscode-notebook-cell" }];

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private crashes: number[] = [];
  private restarting: Promise<void> | undefined;
  private queued = false;
  /** The user allows models to see a workspace that is not trusted; what it sets is still not read. */
  private allowed = false;
  private startedWith: string | undefined;
  private readonly settings: string[];

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly secrets: Secrets,
    private readonly handlers: Handlers,
  ) {
    this.settings = serverSettings(context.extension);
  }

  get running(): boolean {
    return this.client?.state === State.Running;
  }

  readonly call: Call = async (name, argument) => {
    if (!this.client || !this.running) {
      throw new Error("Midstream's server is not running.");
    }
    const params = { command: name, arguments: [argument] };
    return this.client.sendRequest("workspace/executeCommand", params);
  };

  async allow(): Promise<void> {
    this.allowed = true;
    await this.restart();
  }

  /** Starts anew; of the requests that come while one is under way, one more is done after it. */
  async restart(): Promise<void> {
    if (this.restarting) {
      this.queued = true;
      return this.restarting;
    }
    this.crashes = [];
    this.restarting = this.restartUntilQuiet();
    try {
      await this.restarting;
    } finally {
      this.restarting = undefined;
    }
  }

  /** Asks for suggestions; nothing comes while the server is down. */
  readonly ask: Ask = async (document, position, context, token, adjust) => {
    const client = this.client;
    if (!client || !this.running) {
      return undefined;
    }
    const params = adjust(
      client.code2ProtocolConverter.asInlineCompletionParams(document, position, context),
    );
    try {
      const answer = await client.sendRequest(InlineCompletionRequest.type, params, token);
      return await client.protocol2CodeConverter.asInlineCompletionResult(answer, token);
    } catch (error) {
      return client.handleFailedRequest<null>(InlineCompletionRequest.type, token, error, null);
    }
  };

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client) {
      await client.dispose(2000).catch((error: unknown) => log.warn(`Stopping: ${String(error)}`));
    }
  }

  /** A changed setting of the server's: told to it, or a restart where it reads it only then. */
  async configurationChanged(event: vscode.ConfigurationChangeEvent): Promise<void> {
    if (!event.affectsConfiguration("midstream")) {
      return;
    }
    if (this.startedWith !== undefined && this.startedWith !== startSettings(this.settings)) {
      await this.restart();
    } else if (this.client && this.running) {
      const settings = { midstream: setValues(this.settings, undefined) };
      await this.client.sendNotification(DidChangeConfigurationNotification.type, { settings });
    }
  }

  dispose(): void {
    void this.stop();
  }

  private async restartUntilQuiet(): Promise<void> {
    for (let wanted = true; wanted; wanted = this.queued) {
      this.queued = false;
      await this.stop();
      await this.start();
    }
  }

  private async start(): Promise<void> {
    this.handlers.onStatus({ state: "starting" });
    this.startedWith = startSettings(this.settings);
    try {
      const command = await locateServer(this.context);
      const client = this.createClient(command, await this.secrets.environment());
      this.client = client;
      client.onNotification(StatusNotification, this.handlers.onStatus);
      client.onNotification(EndedNotification, this.handlers.onEnded);
      client.onRequest(ApplyPatchRequest, this.handlers.applyPatch);
      client.onDidChangeState((event) => event.newState === State.Running && void this.askStatus());
      await client.start();
    } catch (error) {
      this.report(error);
    }
  }

  /** A server that just started has said nothing about itself yet. */
  private async askStatus(): Promise<void> {
    try {
      this.handlers.onStatus(await this.call("midstream.status", {}));
    } catch (error) {
      log.warn(`No status: ${String(error)}`);
      if (this.running) {
        const message = "The server runs, but does not say how it is.";
        this.handlers.onStatus({ state: "error", message, command: "midstream.restart" });
      }
    }
  }

  private createClient(server: ServerCommand, keys: Record<string, string>): LanguageClient {
    const run = {
      command: server.command,
      args: [...server.args],
      options: { env: { ...process.env, ...keys } },
    };
    log.info(`Starting ${[server.command, ...server.args].join(" ")}`);
    const client = new LanguageClient("midstream", "Midstream", run, {
      documentSelector: DOCUMENTS,
      outputChannel: log,
      initializationOptions: () => ({
        ...setValues(this.settings, undefined),
        trusted: vscode.workspace.isTrusted || this.allowed,
      }),
      middleware: {
        ...this.handlers.middleware,
        workspace: {
          ...this.handlers.middleware.workspace,
          configuration: (params) =>
            params.items.map((item) => {
              const scope = item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri);
              return item.section === "midstream" ? setValues(this.settings, scope) : null;
            }),
        },
      },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.closed(),
      },
    });
    client.registerFeature(announcement);
    return client;
  }

  private closed(): { action: CloseAction; handled: true } {
    const now = Date.now();
    this.crashes = [...this.crashes.filter((time) => now - time < CRASH_WINDOW_MS), now];
    if (this.crashes.length <= MAX_CRASHES) {
      log.warn("The server ended by itself; starting it again.");
      this.handlers.onStatus({
        state: "starting",
        message: "The server ended by itself; starting it again.",
      });
      return { action: CloseAction.Restart, handled: true };
    }
    const message = "Midstream's server keeps ending by itself; the log says why.";
    this.report(
      new NoServer(message, [
        { title: "Start Again", command: "midstream.restart" },
        { title: "Show Log", command: "midstream.showLog" },
      ]),
    );
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private report(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    log.error(message);
    const remedies =
      error instanceof NoServer ? error.remedies : [{ title: "Show Log", command: "midstream.showLog" }];
    const sentence = error instanceof NoServer ? message : `Midstream's server does not start: ${message}`;
    this.handlers.onStatus({ state: "error", message: sentence, command: "midstream.restart" });
    void vscode.window.showErrorMessage(sentence, ...remedies.map((remedy) => remedy.title)).then((title) => {
      const remedy = remedies.find((candidate) => candidate.title === title);
      return remedy && vscode.commands.executeCommand(remedy.command);
    });
  }
}

const announcement: StaticFeature = {
  fillClientCapabilities(capabilities) {
    capabilities.experimental = { ...(capabilities.experimental as object), midstream: CAPABILITIES };
  },
  preInitialize(capabilities) {
    // The extension asks for suggestions itself, because it asks again while they grow.
    delete capabilities.inlineCompletionProvider;
  },
  initialize() {
    // Nothing to set up: the capability is all there is.
  },
  getState: () => ({ kind: "static" }),
  clear() {
    // Nothing to take down.
  },
};
