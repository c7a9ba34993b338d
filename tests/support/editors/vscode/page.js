// A browser page that does what it is told: one JSON object a line, {id, code, argument}.
const { chromium } = require("playwright-core");

const AsyncFunction = (async () => {}).constructor;
const flags = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

(async () => {
  const browser = await chromium.launch({ executablePath: process.argv[2], args: flags });
  const context = await browser.newContext({ viewport: { width: 1100, height: 640 } });
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  for await (const line of require("node:readline").createInterface({ input: process.stdin })) {
    const { id, code, argument } = JSON.parse(line);
    let answer;
    try {
      const result = await new AsyncFunction("page", "argument", code)(page, argument);
      answer = { id, result: result === undefined ? null : result };
    } catch (problem) {
      answer = { id, problem: String(problem) };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
  await browser.close();
})();
