// Evaluates what the test sends, inside the extension host; and runs a language server when one is named.
const net = require("node:net");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const AsyncFunction = (async () => {}).constructor;
let client;

exports.activate = async () => {
  const settings = JSON.parse(process.env.MIDSTREAM_HARNESS);
  const socket = net.connect(settings.port, "127.0.0.1");
  const lines = require("node:readline").createInterface({ input: socket });
  lines.on("line", async (line) => {
    const { id, code, argument } = JSON.parse(line);
    let answer;
    try {
      const result = await new AsyncFunction("vscode", "client", "argument", code)(vscode, client, argument);
      answer = { id, result: result === undefined ? null : result };
    } catch (problem) {
      answer = { id, problem: String(problem) };
    }
    socket.write(JSON.stringify(answer) + "\n");
  });
  if (settings.command) {
    const [command, ...args] = settings.command;
    client = new LanguageClient(
      "midstream",
      "Midstream",
      { command, args },
      { documentSelector: [{ language: "python" }], initializationOptions: settings.options },
    );
    client.start();
  }
};

exports.deactivate = () => client && client.stop();
