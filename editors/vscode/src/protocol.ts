/** The messages that Midstream adds to LSP, type by type as docs/protocol.md has them. */
import { NotificationType, RequestType } from "vscode-languageclient/node";
import type { Position, Range } from "vscode-languageclient/node";
import type { Usage } from "./plots";

export const CAPABILITIES = { applyPatch: true, status: true, ended: true, retrigger: true } as const;

export type Task = "complete" | "edit" | "explain" | "escalate";

export type State = "starting" | "downloading" | "ready" | "working" | "paused" | "error";

export type Outcome =
  | "done"
  | "unchanged"
  | "superseded"
  | "typed_over"
  | "redirected"
  | "stopped"
  | "rejected"
  | "failed"
  | "closed";

export interface Progress {
  id: string;
  uri: string;
  kind: Task;
  tokens?: number;
  tokensPerSecond?: number;
  firstTokenMs?: number;
}

export interface Status {
  state: State;
  model?: string;
  percent?: number;
  message?: string;
  command?: string;
  generation?: Progress;
}

export interface Result {
  id: string;
  uri: string;
  outcome: Outcome;
  edits: number;
  charactersAdded: number;
  charactersDeleted: number;
  outputTokens: number;
  firstTokenMs?: number;
  totalMs: number;
  message?: string;
}

export interface Patch {
  generation: string;
  uri: string;
  version: number;
  range: Range;
  newText: string;
  first: boolean;
}

export interface Applied {
  applied: boolean;
}

export const StatusNotification = new NotificationType<Status>("midstream/status");
export const EndedNotification = new NotificationType<Result>("midstream/ended");
export const ApplyPatchRequest = new RequestType<Patch, Applied, void>("midstream/applyPatch");

/** The place a command is about: a cursor, or a selection. */
export type Place = { uri: string } & ({ position: Position } | { range: Range });

/** An edit or a document; the newest edit when neither is given. */
export interface Target {
  uri?: string;
  id?: string;
}

export interface Scope {
  range: Range;
  kind: string;
  name?: string;
}

/** What `midstream.doctor` answers; `mend` says what to do when the check failed. */
export interface Checkup {
  ok: boolean;
  checks: { name: string; ok: boolean; found: string; mend: string }[];
}

/** Argument and answer of each command. */
export interface Commands {
  "midstream.prepare": [Place & { model?: string }, null];
  "midstream.edit": [Place & { instruction: string; model?: string; wait?: boolean }, { id: string }];
  "midstream.redirect": [Target & { instruction: string; wait?: boolean }, { id: string }];
  "midstream.stop": [Target, Result];
  "midstream.revert": [Target, Result];
  "midstream.accept": [Target, Result];
  "midstream.escalate": [Target, Result];
  "midstream.explain": [Place & { show?: boolean }, { markdown: string }];
  "midstream.pause": [{ minutes?: number }, Status];
  "midstream.status": [Record<string, never>, Status];
  "midstream.usage": [Record<string, never>, Usage];
  "midstream.doctor": [Record<string, never>, Checkup];
  "midstream.showPrompt": [Place & { instruction?: string }, Record<string, unknown> & { scope?: Scope }];
}
