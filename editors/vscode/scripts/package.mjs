// Builds the VSIX: the bundled extension with the server's wheel in it.
//   node scripts/package.mjs [--out FILE]
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";

const MAX_BYTES = 1_000_000;
const folder = path.resolve(import.meta.dirname, "..");
const repository = path.resolve(folder, "../..");
const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
const flag = process.argv.indexOf("--out");
const target =
  flag > 0 ? path.resolve(process.argv[flag + 1]) : path.join(folder, `midstream-${manifest.version}.vsix`);

const run = (command, ...args) => execFileSync(command, args, { cwd: folder, stdio: "inherit" });

/** The development environment of the repository, or the Python that PYTHON names. */
function python() {
  const own = path.join(
    repository,
    ".venv",
    process.platform === "win32" ? "Scripts/python.exe" : "bin/python",
  );
  return process.env.PYTHON ?? (existsSync(own) ? own : "python3");
}

rmSync(path.join(folder, "bundled"), { recursive: true, force: true });
mkdirSync(path.join(folder, "bundled"));
run(
  python(),
  "-m",
  "pip",
  "wheel",
  "--quiet",
  "--disable-pip-version-check",
  "--no-deps",
  "-w",
  "bundled",
  repository,
);
run(process.execPath, "scripts/build.mjs");
const vsce = path.join(folder, "node_modules/@vscode/vsce/vsce");
// The pictures of the README are in the package.
const quiet = ["--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links"];
run(process.execPath, vsce, "package", ...quiet, "--out", target);

const size = statSync(target).size;
process.stdout.write(`${target}: ${(size / 1000).toFixed(0)} kB\n`);
if (size > MAX_BYTES) {
  process.stderr.write(`The VSIX is larger than ${MAX_BYTES / 1000} kB.\n`);
  process.exit(1);
}
