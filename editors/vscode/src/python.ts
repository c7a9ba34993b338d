/** Finding a Python that can run the server. Pure but for the functions handed in. */

export const MINIMUM: readonly [number, number] = [3, 11];

/** Prints version, path, and whether virtual environments can be made. */
export const PROBE =
  "import sys, importlib.util as u;" +
  "print(*sys.version_info[:3], int(all(u.find_spec(m) for m in ('venv', 'ensurepip'))), sys.executable)";

export interface Python {
  readonly command: readonly string[];
  readonly executable: string;
  readonly version: readonly [number, number, number];
  readonly canMakeVenv: boolean;
}

export type Search =
  | { readonly kind: "found"; readonly python: Python }
  | { readonly kind: "missing" }
  | { readonly kind: "tooOld"; readonly python: Python }
  | { readonly kind: "noVenv"; readonly python: Python };

/** What `PROBE` printed; undefined when it is something else. */
export function parseProbe(command: readonly string[], output: string): Python | undefined {
  const match = /^(\d+) (\d+) (\d+) ([01]) (.+)$/m.exec(output.trim());
  if (!match) {
    return undefined;
  }
  const [, major, minor, micro, venv, executable] = match;
  return {
    command,
    executable: (executable ?? "").trim(),
    version: [Number(major), Number(minor), Number(micro)],
    canMakeVenv: venv === "1",
  };
}

export function isRecent(version: readonly [number, number, number]): boolean {
  const [major, minor] = version;
  return major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1]);
}

/** The names under which a Python may be on the path, best first. */
export function usualNames(platform: NodeJS.Platform): string[][] {
  const numbered = ["3.14", "3.13", "3.12", "3.11"];
  return platform === "win32"
    ? [...numbered.map((version) => ["py", `-${version}`]), ["py", "-3"], ["python"], ["python3"]]
    : [["python3"], ...numbered.map((version) => [`python${version}`]), ["python"]];
}

/** The first candidate that will do, or else the reason why none does, of the one that came nearest. */
export async function findPython(
  candidates: readonly (readonly string[])[],
  probe: (command: readonly string[]) => Promise<string | undefined>,
): Promise<Search> {
  let nearest: Search = { kind: "missing" };
  for (const command of candidates) {
    const output = await probe(command);
    const python = output === undefined ? undefined : parseProbe(command, output);
    if (!python) {
      continue;
    }
    if (isRecent(python.version) && python.canMakeVenv) {
      return { kind: "found", python };
    }
    if (isRecent(python.version)) {
      nearest = { kind: "noVenv", python };
    } else if (nearest.kind === "missing") {
      nearest = { kind: "tooOld", python };
    }
  }
  return nearest;
}

/** One sentence for the user, and what to do. */
export function explainSearch(search: Exclude<Search, { kind: "found" }>): string {
  const wanted = MINIMUM.join(".");
  switch (search.kind) {
    case "missing":
      return `Midstream needs Python ${wanted} or newer, and none was found. Install it, or choose one.`;
    case "tooOld":
      return (
        `Midstream needs Python ${wanted} or newer; ${search.python.executable} is ` +
        `${search.python.version.join(".")}. Install a newer one, or choose one.`
      );
    case "noVenv":
      return (
        `${search.python.executable} cannot make virtual environments. On Debian and Ubuntu, install ` +
        `the package python3-venv, or choose another Python.`
      );
  }
}
