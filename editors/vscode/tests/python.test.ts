import assert from "node:assert/strict";
import { test } from "node:test";
import { explainSearch, findPython, parseProbe, usualNames } from "../src/python";

/** Finds a Python among `name: what its probe prints`. */
async function found(installed: Record<string, string>, names = Object.keys(installed)): Promise<string> {
  const search = await findPython(
    names.map((name) => name.split(" ")),
    (command) => Promise.resolve(installed[command.join(" ")]),
  );
  return search.kind === "found" ? search.python.executable : explainSearch(search);
}

test("the first Python that is new enough is taken", async () => {
  const installed = {
    python3: "3 9 2 1 /usr/bin/python3",
    "python3.12": "3 12 1 1 /usr/bin/python3.12",
    "python3.11": "3 11 2 1 /usr/bin/python3.11",
  };
  assert.equal(await found(installed), "/usr/bin/python3.12");
});

test("an executable in a folder with a blank is found", async () => {
  assert.equal(
    await found({ "py -3": "3 13 0 1 C:\\Program Files\\Python\\python.exe\r\n" }),
    "C:\\Program Files\\Python\\python.exe",
  );
});

test("without any Python the sentence says what to do", async () => {
  assert.match(await found({}, ["python3", "python"]), /needs Python 3\.11 or newer, and none was found/);
});

test("a Python that is too old is named with its version", async () => {
  assert.match(await found({ python3: "3 9 2 1 /usr/bin/python3" }), /\/usr\/bin\/python3 is 3\.9\.2/);
});

test("a Python without venv is named, also when an older one is there too", async () => {
  const installed = { python3: "3 11 2 0 /usr/bin/python3", python: "2 7 18 0 /usr/bin/python" };
  assert.match(await found(installed), /\/usr\/bin\/python3 cannot make virtual environments/);
});

test("what a stub of the app store prints is no Python", () => {
  assert.equal(parseProbe(["python"], "Python was not found; run without arguments to install"), undefined);
});

test("Windows asks its launcher, other systems the usual names", () => {
  assert.deepEqual(usualNames("win32")[0], ["py", "-3.14"]);
  assert.deepEqual(usualNames("linux")[0], ["python3"]);
});
