/** The usage page as HTML with inline SVG: no script, nothing from elsewhere, colours of the theme. */

/** One model and task, or a total. Times are milliseconds. */
export interface Line {
  model: string;
  task: string;
  requests: number;
  estimated: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  wastedTokens: number;
  cost: number;
  accepted: number;
  costPerAccepted?: number | null;
  firstTokenP50?: number | null;
  firstTokenP95?: number | null;
  tokensPerSecond?: number | null;
  leadMs?: number | null;
  fixLeadMs?: number | null;
}

export interface Period {
  lines: Line[];
  total: Line | null;
}

export interface Limit {
  period: string;
  model?: string | null;
  unit: string;
  limit: number;
  used: number;
}

/** What `midstream.usage` answers; a server without a meter answers an empty object. */
export interface Usage {
  currency?: string;
  prices?: { date: string; source: string };
  today?: Period;
  week?: Period;
  limits?: Limit[];
}

export function usagePage(usage: Usage, nonce: string): string {
  const week = usage.week?.lines ?? [];
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'">
<title>Midstream: Usage</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<h1>Usage</h1>
<p>Kept on this machine; nothing of it leaves.</p>
<div class="row">${card("Today", usage.today)}${card("The last seven days", usage.week)}</div>
${limits(usage.limits ?? [], usage.currency ?? "")}
${week.length === 0 ? "" : plots(week) + table(week)}
${usage.prices ? `<p class="note">Built-in prices: ${escaped(usage.currency ?? "")}, ${escaped(usage.prices.date)}.</p>` : ""}
</body>
</html>`;
}

function card(title: string, period: Period | undefined): string {
  const total = period?.total;
  if (!total) {
    return `<section><h2>${title}</h2><p>Nothing yet.</p></section>`;
  }
  const rows: [string, string][] = [
    ["Requests", count(total.requests)],
    ["Accepted", count(total.accepted)],
    ["Tokens in", `${count(total.inputTokens)} (${count(total.cachedTokens)} cached)`],
    ["Tokens out", `${count(total.outputTokens)} (${count(total.wastedTokens)} wasted)`],
    ["First token", pair(total.firstTokenP50, total.firstTokenP95)],
    ["Speed", unit(total.tokensPerSecond, "tokens/s")],
    ["Cost", money(total.cost) + (total.estimated > 0 ? ", in part estimated" : "")],
    ["Cost per accepted", total.costPerAccepted == null ? "" : money(total.costPerAccepted)],
    ["From request to accepted", duration(total.leadMs)],
    ["From offered fix to accepted", duration(total.fixLeadMs)],
  ];
  const body = rows
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`);
  return `<section><h2>${title}</h2><table aria-label="${title}">${body.join("")}</table></section>`;
}

function limits(found: readonly Limit[], currency: string): string {
  const meters = found.map((limit) => {
    const shown = (value: number) => (limit.unit === "money" ? `${money(value)} ${currency}` : count(value));
    const name = `Per ${limit.period}, ${limit.model ?? "all models"}`;
    const text = escaped(`${name}: ${shown(limit.used)} of ${shown(limit.limit)}`);
    return `<p><label>${text}<br><meter min="0" max="${limit.limit}" high="${limit.limit * 0.8}" value="${limit.used}">${text}</meter></label></p>`;
  });
  return meters.length === 0 ? "" : `<h2>Limits</h2>${meters.join("")}`;
}

function plots(lines: readonly Line[]): string {
  const named = (value: (line: Line) => number) =>
    lines.map((line) => ({ label: `${line.model}, ${line.task}`, value: value(line) }));
  const found = [
    bars(
      "Requests",
      named((line) => line.requests),
      count,
    ),
    bars(
      "Tokens out",
      named((line) => line.outputTokens),
      count,
    ),
    bars(
      "First token, median",
      named((line) => line.firstTokenP50 ?? 0),
      (value) => unit(value, "ms"),
    ),
    bars(
      "Cost",
      named((line) => line.cost),
      money,
    ),
  ];
  return `<h2>${BY_MODEL}</h2><div class="row">${found.join("")}</div>`;
}

const BY_MODEL = "By model and task, the last seven days";
/** Columns of the table that name a row. */
const NAMES = 2;
const WIDTH = 320;
const ROW = 34;

/**
 * Bars that lie, each with its name and value above it; empty when there is nothing to compare.
 * A screen reader takes a picture for one thing, so the picture's name has the values too.
 */
export function bars(
  title: string,
  points: readonly { label: string; value: number }[],
  shown: (value: number) => string,
): string {
  const highest = Math.max(...points.map((point) => point.value), 0);
  if (highest === 0) {
    return "";
  }
  const texts = points.map((point) => escaped(`${point.label}: ${shown(point.value)}`));
  const rows = points.map((point, index) => {
    const text = `<text x="0" y="${index * ROW + 12}">${texts[index]}</text>`;
    const width = ((point.value / highest) * WIDTH).toFixed(1);
    return `${text}<rect x="0" y="${index * ROW + 17}" width="${width}" height="10" rx="2"/>`;
  });
  const height = points.length * ROW;
  return (
    `<figure><figcaption>${escaped(title)}</figcaption>` +
    `<svg viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}. ${texts.join("; ")}">` +
    `${rows.join("")}</svg></figure>`
  );
}

function table(lines: readonly Line[]): string {
  const heads = [
    "Model",
    "Task",
    "Requests",
    "Accepted",
    "Tokens out",
    "Wasted",
    "First token",
    "Speed",
    "Cost",
  ];
  const rows = lines.map((line) => [
    escaped(line.model),
    escaped(line.task),
    count(line.requests),
    count(line.accepted),
    count(line.outputTokens),
    count(line.wastedTokens),
    pair(line.firstTokenP50, line.firstTokenP95),
    unit(line.tokensPerSecond, "/s"),
    money(line.cost),
  ]);
  const head = heads.map((name) => `<th scope="col">${name}</th>`).join("");
  const cell = (text: string, column: number) =>
    column < NAMES ? `<th scope="row">${text}</th>` : `<td>${text}</td>`;
  const body = rows.map((row) => `<tr>${row.map(cell).join("")}</tr>`).join("");
  return `<table class="wide" aria-label="${BY_MODEL}"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function unit(value: number | null | undefined, name: string): string {
  return value == null ? "" : `${count(value)} ${name}`;
}

/** Milliseconds in the unit that suits a time which a person took. */
export function duration(value: number | null | undefined): string {
  if (value == null || value < 1000) {
    return unit(value, "ms");
  }
  const seconds = value / 1000;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} min`;
}

/** The median and the 95th percentile. */
function pair(median: number | null | undefined, high: number | null | undefined): string {
  return median == null ? "" : `${count(median)} ms${high == null ? "" : `, 95 % within ${count(high)} ms`}`;
}

/** Small amounts need their small digits. */
export function money(value: number): string {
  return value === 0 ? "0" : value.toFixed(value < 0.1 ? 4 : 2);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
body { font-family: var(--vscode-font-family); color: var(--vscode-foreground); padding: 0 1.5rem 2rem; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 1.6em; }
.row { display: flex; flex-wrap: wrap; gap: 1rem 3.5rem; }
.note { color: var(--vscode-descriptionForeground); }
table { border-collapse: collapse; }
th { text-align: left; font-weight: normal; color: var(--vscode-descriptionForeground); padding: 2px 1.5em 2px 0; }
td { padding: 2px 0; font-variant-numeric: tabular-nums; }
.wide { margin-top: 1.5em; }
.wide th, .wide td { text-align: right; padding: 4px 1.2em 4px 0; border-bottom: 1px solid var(--vscode-panel-border); }
.wide th:nth-child(-n+2) { text-align: left; }
.wide tbody th { color: inherit; }
meter { width: 320px; }
figure { margin: 0; } figcaption { padding-bottom: 8px; font-weight: 600; }
rect { fill: var(--vscode-charts-blue); stroke: var(--vscode-contrastBorder); }
text { fill: var(--vscode-foreground); font-size: 11px; }
`;
