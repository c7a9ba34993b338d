import assert from "node:assert/strict";
import { test } from "node:test";
import { quoteNames } from "../src/titles";

const shown = (title: string, value: string) => quoteNames([{ title, kind: { value } }])?.[0]?.title;

test("a name is quoted as VS Code does it, for it renders no Markdown in a menu", () => {
  assert.equal(shown("Add types to `parse_header`", "refactor.rewrite"), "Add types to 'parse_header'");
  assert.equal(shown("Write tests for `area`", "source"), "Write tests for 'area'");
  assert.equal(shown("Add types to the selection", "refactor.rewrite"), "Add types to the selection");
});

test("a quick fix keeps the words of the diagnostic", () => {
  const title = "Fix with Midstream: `os` imported but unused";
  assert.equal(shown(title, "quickfix"), title);
});
