/** The settings that the user has really set, as the server takes them. */
import * as vscode from "vscode";

/** Settings of the extension itself, which the server does not know. */
const OWN = ["midstream.server."];

/** Values that a repository must not choose are read from the user's settings only. */
const USER_ONLY = ["midstream.models", "midstream.budget", "midstream.checks", "midstream.log.file"];

interface Contribution {
  properties: Record<string, unknown>;
}

/** The full names of the server's settings, as this extension contributes them. */
export function serverSettings(extension: vscode.Extension<unknown>): string[] {
  const manifest = extension.packageJSON as { contributes: { configuration: Contribution[] } };
  return manifest.contributes.configuration
    .flatMap((group) => Object.keys(group.properties))
    .filter((name) => !OWN.some((prefix) => name.startsWith(prefix)));
}

/**
 * Only what was set: a default sent as a value would win over the user's own file.
 * In a workspace that is not trusted only the user's values count.
 */
export function setValues(
  names: readonly string[],
  scope: vscode.ConfigurationScope | undefined,
): Record<string, unknown> {
  const configuration = vscode.workspace.getConfiguration(undefined, scope ?? null);
  const result: Record<string, unknown> = {};
  for (const name of names) {
    const found = configuration.inspect<unknown>(name);
    const userOnly = USER_ONLY.some((own) => name === own || name.startsWith(`${own}.`));
    const values =
      userOnly || !vscode.workspace.isTrusted
        ? [found?.globalValue]
        : [found?.workspaceFolderValue, found?.workspaceValue, found?.globalValue];
    const value = values.find((candidate) => candidate !== undefined);
    if (value !== undefined) {
      put(result, name.split(".").slice(1), value);
    }
  }
  return result;
}

function put(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined) {
    return;
  }
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const nested = (target[key] ?? {}) as Record<string, unknown>;
  target[key] = nested;
  put(nested, rest, value);
}
