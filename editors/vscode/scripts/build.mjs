// Bundles the extension into one file.
//   node scripts/build.mjs [--debug]
import * as esbuild from "esbuild";
import path from "node:path";

const debug = process.argv.includes("--debug");
const folder = path.resolve(import.meta.dirname, "..");

await esbuild.build({
  absWorkingDir: folder,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  minify: !debug,
  sourcemap: debug ? "inline" : false,
  logLevel: "warning",
});
