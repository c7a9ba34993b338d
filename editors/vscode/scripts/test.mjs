// Bundles the tests of the pure functions and runs them with node's own runner.
import * as esbuild from "esbuild";
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import path from "node:path";

const folder = path.resolve(import.meta.dirname, "..");
const names = readdirSync(path.join(folder, "tests")).filter((name) => name.endsWith(".test.ts"));

rmSync(path.join(folder, "out"), { recursive: true, force: true });
await esbuild.build({
  absWorkingDir: folder,
  entryPoints: names.map((name) => `tests/${name}`),
  outdir: "out",
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  format: "cjs",
  logLevel: "warning",
});
const files = names.map((name) => path.join("out", name.replace(/\.ts$/, ".cjs")));
const run = spawnSync(process.execPath, ["--test", ...files], { cwd: folder, stdio: "inherit" });
process.exit(run.status ?? 1);
