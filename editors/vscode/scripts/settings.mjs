// Writes the server's settings into package.json, from the server's own schema.
//   node scripts/settings.mjs [--check]
// --check changes nothing and fails when they differ.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const folder = path.resolve(import.meta.dirname, "..");
const repository = path.resolve(folder, "../..");
const manifestFile = path.join(folder, "package.json");

/** The development environment of the repository, or the Python that PYTHON names. */
function python() {
  const own = path.join(
    repository,
    ".venv",
    process.platform === "win32" ? "Scripts/python.exe" : "bin/python",
  );
  return process.env.PYTHON ?? (existsSync(own) ? own : "python3");
}

const schema = JSON.parse(
  execFileSync(python(), ["-m", "lsp_server", "config", "schema", "--vscode"], {
    cwd: repository,
    encoding: "utf8",
  }),
);

/** `midstream.edit.format` belongs to the group "Edit". */
function groupOf(name) {
  const group = name.split(".")[1];
  return group.charAt(0).toUpperCase() + group.slice(1);
}

const names = Object.keys(schema);
const serverGroups = [...new Set(names.map(groupOf))].map((title) => ({
  title,
  properties: Object.fromEntries(
    names.filter((name) => groupOf(name) === title).map((name) => [name, schema[name]]),
  ),
}));

const before = readFileSync(manifestFile, "utf8");
const manifest = JSON.parse(before);
const [own] = manifest.contributes.configuration;
manifest.contributes.configuration = [own, ...serverGroups];
// In a workspace that is not trusted VS Code itself leaves out what the workspace sets for these.
manifest.capabilities.untrustedWorkspaces.restrictedConfigurations = [
  ...Object.keys(own.properties),
  ...names,
];
const after = JSON.stringify(manifest, null, 2) + "\n";

if (after !== before && process.argv.includes("--check")) {
  process.stderr.write("package.json does not match the server's settings. Run `npm run settings`.\n");
  process.exit(1);
}
if (after !== before) {
  writeFileSync(manifestFile, after);
}
