import assert from "node:assert/strict";
import { test } from "node:test";
import { bars, duration, usagePage } from "../src/plots";
import type { Line } from "../src/plots";

const line: Line = {
  model: "spark",
  task: "edit",
  requests: 1200,
  estimated: 0,
  inputTokens: 50_000,
  cachedTokens: 40_000,
  outputTokens: 9000,
  wastedTokens: 300,
  cost: 0.0123,
  accepted: 7,
  firstTokenP50: 87,
  firstTokenP95: null,
};

test("a page has a policy that allows no script and nothing from elsewhere", () => {
  const page = usagePage({}, "n0nce");
  assert.match(page, /default-src 'none'; style-src 'nonce-n0nce'/);
  assert.match(page, /Nothing yet\./);
  assert.doesNotMatch(page, /<script|https?:|\son\w+=/);
});

test("names from the settings cannot bring markup along", () => {
  const bad = { ...line, model: '<img src="x">' };
  const page = usagePage({ week: { lines: [bad], total: line } }, "n");
  assert.doesNotMatch(page, /<img/);
  assert.match(page, /&#60;img/);
});

test("the longest bar is as long as the plot, and each says its value", () => {
  const points = [
    { label: "spark", value: 1 },
    { label: "local", value: 4 },
  ];
  const plot = bars("Cost", points, (value) => `$${value}`);
  const widths = [...plot.matchAll(/<rect x="0" y="\d+" width="([\d.]+)"/g)].map((match) => Number(match[1]));
  assert.deepEqual(widths, [80, 320]);
  assert.match(plot, />local: \$4</);
});

test("the name of a picture says all that is in it", () => {
  const points = [
    { label: "spark, edit", value: 3 },
    { label: "local, complete", value: 40 },
  ];
  assert.match(
    bars("Requests", points, String),
    /aria-label="Requests\. spark, edit: 3; local, complete: 40"/,
  );
});

test("the time from an offered fix to the accepted one is shown once there is one", () => {
  const page = (fixLeadMs: number | null) =>
    usagePage({ today: { lines: [], total: { ...line, fixLeadMs } } }, "n");
  assert.match(page(2130), /From offered fix to accepted<\/th><td>2\.1 s</);
  assert.doesNotMatch(page(null), /offered fix/);
});

test("a time is told in the unit that suits it", () => {
  const told = [340, 59_900, 150_000, null].map(duration);
  assert.deepEqual(told, ["340 ms", "59.9 s", "2.5 min", ""]);
});

test("nothing to compare is no plot", () => {
  assert.equal(bars("Cost", [{ label: "local", value: 0 }], String), "");
});

test("figures are readable, and those that are not known are left out", () => {
  const page = usagePage(
    { today: { lines: [line], total: line }, week: { lines: [line], total: line } },
    "n",
  );
  assert.match(page, /1,200/);
  assert.match(page, /0\.0123/);
  assert.match(page, /87 ms</);
  assert.doesNotMatch(page, /undefined|NaN|null|Cost per accepted/);
});

test("a limit shows how much of it is used", () => {
  const limit = { period: "day", model: null, unit: "money", limit: 2, used: 0.5 };
  const page = usagePage({ currency: "USD", limits: [limit] }, "n");
  assert.match(page, /Per day, all models: 0\.50 USD of 2\.00 USD/);
  assert.match(page, /max="2" high="1\.6" value="0\.5"/);
});
