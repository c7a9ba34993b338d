/** Everything that the extension registers, in one table of contents. */
import * as vscode from "vscode";
import { Edits, messageOf, placeOf } from "./edit";
import { Ghost } from "./ghost";
import { log } from "./log";
import { showMenu } from "./menu";
import { Pages, checkupPage, promptPage } from "./pages";
import { Patches } from "./patches";
import { Reviews } from "./reviews";
import { Secrets } from "./secrets";
import { DOCUMENTS, Server } from "./server";
import type { Call } from "./server";
import { StatusBar } from "./status";
import { quoteNames } from "./titles";
import { UsageView, costOfToday } from "./usage";
import { chooseInterpreter, welcome } from "./welcome";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const call: Call = (name, argument) => server.call(name, argument);
  const secrets = new Secrets(context);
  const status = new StatusBar();
  const reviews = new Reviews();
  const edits = new Edits(context, call, reviews);
  const ghost = new Ghost(context.extension.id, DOCUMENTS, (...question) => server.ask(...question), call);
  const patches = new Patches((document, patch) => reviews.expect(document, patch));
  const pages = new Pages();
  const usage = new UsageView(call);

  const server = new Server(context, secrets, {
    middleware: {
      didChange: patches.didChange,
      provideCodeActions: async (document, range, context, token, next) =>
        quoteNames(await next(document, range, context, token)),
      executeCommand: (command, args, next) => {
        if (command === "midstream.redirect" || command === "midstream.escalate") {
          reviews.redirecting((args[0] as { uri?: string } | undefined)?.uri);
        }
        return next(command, args) as unknown;
      },
    },
    applyPatch: patches.apply,
    onStatus: (message) => {
      status.update(message);
      ghost.onStatus(message);
      if (message.state === "starting" || message.state === "error") {
        reviews.interrupted();
      }
    },
    onEnded: (result) => {
      reviews.ended(result);
      void edits.ended(result);
      void refreshCost();
    },
  });

  async function refreshCost(): Promise<void> {
    try {
      status.showCost(costOfToday(await call("midstream.usage", {})));
      await usage.refresh();
    } catch (error) {
      log.debug(`No usage: ${messageOf(error)}`);
    }
  }

  async function showPrompt(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor) {
      await pages.show("Prompt", promptPage(await call("midstream.showPrompt", placeOf(editor))));
    }
  }

  async function explain(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor) {
      const working = { location: vscode.ProgressLocation.Window, title: "Midstream explains" };
      const place = placeOf(editor);
      const answer = await vscode.window.withProgress(working, () =>
        call("midstream.explain", { ...place, show: false }),
      );
      await pages.show("Explanation", answer.markdown);
    }
  }

  const commands: Record<string, (...args: never[]) => unknown> = {
    "midstream.editAtCursor": () => edits.edit(),
    "midstream.redirectEdit": (uri?: string) => edits.redirect(uri),
    "midstream.stopEdit": (uri?: string) => edits.stop(uri),
    "midstream.acceptEdit": (uri?: string) => edits.accept(uri),
    "midstream.revertEdit": (uri?: string) => edits.revert(uri),
    "midstream.thinkHarder": (uri?: string) => edits.escalate(uri),
    "midstream.acceptChange": (uri?: string, index?: number) => edits.acceptChange(uri, index),
    "midstream.rejectChange": (uri?: string, index?: number) => edits.rejectChange(uri, index),
    "midstream.nextChange": () => edits.goToChange(1),
    "midstream.previousChange": () => edits.goToChange(-1),
    "midstream.dismissSuggestion": () => ghost.dismiss(),
    "midstream.explainCode": explain,
    "midstream.showMenu": () => showMenu(status.status, call),
    "midstream.showUsage": () => usage.show(),
    "midstream.showDoctor": async () => pages.show("Doctor", checkupPage(await call("midstream.doctor", {}))),
    "midstream.showPromptAtCursor": showPrompt,
    "midstream.showLog": () => log.show(),
    "midstream.setKey": async () => (await secrets.ask()) && server.restart(),
    "midstream.choosePython": chooseInterpreter,
    "midstream.restart": () => server.restart(),
    "midstream.allow": async () => {
      const allow = "Allow Here";
      const question = "Midstream sends code to the models you configured. Allow it in this workspace?";
      const answer = await vscode.window.showWarningMessage(question, { modal: true }, allow, "Manage Trust");
      if (answer === allow) {
        await server.allow();
      } else if (answer !== undefined) {
        await vscode.commands.executeCommand("workbench.trust.manage");
      }
    },
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(
      vscode.commands.registerCommand(name, async (...args: never[]) => {
        try {
          return await run(...args);
        } catch (error) {
          void vscode.window.showErrorMessage(`Midstream: ${messageOf(error)}`);
          return undefined;
        }
      }),
    );
  }

  context.subscriptions.push(
    log,
    status,
    reviews,
    ghost,
    pages,
    usage,
    server,
    vscode.workspace.onDidChangeConfiguration((event) => server.configurationChanged(event)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.restart()),
  );

  if (vscode.workspace.isTrusted) {
    await server.restart();
    void welcome(context);
  } else {
    status.restricted();
  }
}
