// A loopback stand-in for a model: it answers every request with the next step of the
// play that the task's text names, by the Messages API, chat completions, responses or
// generateContent, and logs what it was told and what it answered.
//
//   node model.mjs LOG     prints the port it listens at
import http from "node:http";
import fs from "node:fs";

const log = fs.createWriteStream(process.argv[2], { flags: "a" });
const finish = { say: 'Done.\n\n```json\n{"schema": "odd.finish.1", "outcome": "completed"}\n```\n' };
const write = (path, content) => ({ write: { path, content } });
const edit = (path, from, to) => ({ edit: { path, from, to } });
const read = (path) => ({ read: { path } });
const run = (command) => ({ run: { command } });

// plays are what the model does for each task. The second four disobey.
const plays = {
  "new-file": [{ search: { query: "shore" } }, write("tool/new.txt", "ebb\n"), finish],
  edit: [read("tool/tides.txt"), edit("tool/tides.txt", "spring", "spring\nneap"), finish],
  mend: [run("node --test tool/"), read("tool/tide.mjs"), edit("tool/tide.mjs", "a - b", "a + b"), run("node --test tool/"), finish],
  heed: [write("other.txt", "x\n"), run("git push origin HEAD"), write("tool/heed.txt", "ebb\n"), finish],
  "wrong-path": [write("other.txt", "x\n"), write("odd.toml", "x\n"), finish],
  "no-finish": [write("tool/open.txt", "ebb\n"), { say: "I think that is all." }],
  "lost-tool": [{ lost: {} }, write("tool/lost.txt", "ebb\n"), finish],
  question: [{ say: "Which tide do you mean, spring or neap?" }],
};

// Each client's tools, by what a step does. A relative path is below the tree.
const hands = {
  write: {
    Write: (a) => ({ file_path: a.path, content: a.content }),
    write: (a) => ({ filePath: a.path, content: a.content }),
    write_file: (a) => ({ file_path: a.path, content: a.content }),
    exec_command: (a) => ({ cmd: `printf '%s' '${a.content}' > ${a.path}` }),
    shell_command: (a) => ({ command: `printf '%s' '${a.content}' > ${a.path}` }),
    shell: (a) => ({ command: ["sh", "-c", `printf '%s' '${a.content}' > ${a.path}`] }),
  },
  edit: {
    Edit: (a) => ({ file_path: a.path, old_string: a.from, new_string: a.to }),
    edit: (a) => ({ filePath: a.path, oldString: a.from, newString: a.to }),
    replace: (a) => ({ file_path: a.path, instruction: "change it", old_string: a.from, new_string: a.to }),
    exec_command: (a) => ({ cmd: `sed -i 's/${a.from}/${a.to.replaceAll("\n", "\\n")}/' ${a.path}` }),
    shell_command: (a) => ({ command: `sed -i 's/${a.from}/${a.to.replaceAll("\n", "\\n")}/' ${a.path}` }),
    shell: (a) => ({ command: ["sed", "-i", `s/${a.from}/${a.to.replaceAll("\n", "\\n")}/`, a.path] }),
  },
  read: {
    Read: (a) => ({ file_path: a.path }),
    read: (a) => ({ filePath: a.path }),
    read_file: (a) => ({ file_path: a.path }),
    exec_command: (a) => ({ cmd: "cat " + a.path }),
    shell_command: (a) => ({ command: "cat " + a.path }),
    shell: (a) => ({ command: ["cat", a.path] }),
  },
  run: {
    Bash: (a) => ({ command: a.command, description: "run it" }),
    bash: (a) => ({ command: a.command, description: "run it" }),
    run_shell_command: (a) => ({ command: a.command, description: "run it" }),
    exec_command: (a) => ({ cmd: a.command }),
    shell_command: (a) => ({ command: a.command }),
    shell: (a) => ({ command: a.command.split(" ") }),
  },
};

// call is a step as a call of one of the client's tools, null where it has none for it.
function call(step, tools, tree) {
  const [what, args] = Object.entries(step)[0];
  if (what === "lost") return { name: "measure_the_moon", args: {} };
  if (what === "search") {
    const name = tools.find((t) => /odd.*search$/.test(t));
    return name ? { name, args } : null;
  }
  const name = Object.keys(hands[what]).find((t) => tools.includes(t));
  if (!name) return null;
  return { name, args: hands[what][name]({ ...args, path: args.path && tree + "/" + args.path }) };
}

// next is the answer to a conversation with so many answers of the model's own.
function next({ text, tools, answers }) {
  const play = plays[(text.match(/The model plays ([a-z-]+)\./) || [])[1]];
  const tree = (text.match(/\/[^\s"'\\<>`]+\/tree(?=[\s"'\\<>`.])/g) || []).sort((a, b) => a.length - b.length)[0];
  if (!play || !tools.length) return { text: "Tides" };
  const steps = play.filter((s) => s.say || call(s, tools, tree));
  const step = steps[Math.min(answers, steps.length - 1)];
  return step.say ? { text: step.say } : call(step, tools, tree);
}

const id = () => Math.random().toString(36).slice(2);
const sse = (events) => events.map((e) => (e.type ? "event: " + e.type + "\n" : "") + "data: " + JSON.stringify(e) + "\n\n").join("");
const texts = (content) => (typeof content === "string" ? content : JSON.stringify(content ?? ""));

// Each API reads a request into what next takes, with what its last tools said, and
// writes an answer.
const apis = [
  {
    path: /^\/v1\/messages(\?|$)/,
    read: (b) => {
      const spoken = b.messages.filter((m) => m.role !== "system");
      const last = spoken.at(-1)?.content;
      return {
        text: JSON.stringify(b), tools: (b.tools || []).map((t) => t.name), answers: spoken.filter((m) => m.role === "assistant").length, stream: b.stream,
        told: (Array.isArray(last) ? last : []).filter((p) => p.type === "tool_result").map((p) => texts(p.content)),
      };
    },
    write: (a, b, stream) => {
      const usage = { input_tokens: 1000, output_tokens: 50 };
      const block = a.name ? { type: "tool_use", id: "toolu_" + id(), name: a.name, input: a.args } : { type: "text", text: a.text };
      const message = { id: "msg_" + id(), type: "message", role: "assistant", model: b.model, content: [block], stop_reason: a.name ? "tool_use" : "end_turn", stop_sequence: null, usage };
      if (!stream) return JSON.stringify(message);
      return sse([
        { type: "message_start", message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } },
        { type: "content_block_start", index: 0, content_block: a.name ? { ...block, input: {} } : { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: a.name ? { type: "input_json_delta", partial_json: JSON.stringify(a.args) } : { type: "text_delta", text: a.text } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage: { output_tokens: 50 } },
        { type: "message_stop" },
      ]);
    },
  },
  {
    path: /\/chat\/completions$/,
    read: (b) => ({
      text: JSON.stringify(b), tools: (b.tools || []).map((t) => t.function.name), answers: b.messages.filter((m) => m.role === "assistant").length, stream: b.stream,
      told: b.messages.slice(b.messages.findLastIndex((m) => m.role === "assistant") + 1).filter((m) => m.role === "tool").map((m) => texts(m.content)),
    }),
    write: (a, b, stream) => {
      const calls = a.name && [{ index: 0, id: "call_" + id(), type: "function", function: { name: a.name, arguments: JSON.stringify(a.args) } }];
      const said = { role: "assistant", content: a.text ?? null, ...(calls && { tool_calls: calls }) };
      const top = { id: "c_" + id(), object: stream ? "chat.completion.chunk" : "chat.completion", created: 1, model: b.model };
      const usage = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
      const finish_reason = calls ? "tool_calls" : "stop";
      if (!stream) return JSON.stringify({ ...top, choices: [{ index: 0, message: said, finish_reason }], usage });
      return sse([{ ...top, choices: [{ index: 0, delta: said, finish_reason: null }] }, { ...top, choices: [{ index: 0, delta: {}, finish_reason }], usage }]) + "data: [DONE]\n\n";
    },
  },
  {
    path: /\/responses$/,
    read: (b) => ({
      text: JSON.stringify(b), tools: (b.tools || []).flatMap((t) => (t.tools ? t.tools.map((u) => t.name + u.name) : [t.name])).filter(Boolean),
      answers: b.input.filter((m) => m.type === "function_call" || m.role === "assistant").length, stream: b.stream,
      told: b.input.slice(-1).filter((m) => m.type === "function_call_output").map((m) => texts(m.output)),
    }),
    write: (a, b, stream) => {
      const item = a.name
        ? { type: "function_call", id: "fc_" + id(), call_id: "call_" + id(), name: a.name, arguments: JSON.stringify(a.args), status: "completed" }
        : { type: "message", id: "msg_" + id(), role: "assistant", status: "completed", content: [{ type: "output_text", text: a.text, annotations: [] }] };
      const response = { id: "resp_" + id(), object: "response", created_at: 1, status: "completed", model: b.model, output: [item], usage: { input_tokens: 1000, input_tokens_details: { cached_tokens: 0 }, output_tokens: 50, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 1050 } };
      if (!stream) return JSON.stringify(response);
      return sse([
        { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
        { type: "response.output_item.added", output_index: 0, item },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response },
      ]);
    },
  },
  {
    path: /:(stream)?[gG]enerateContent/,
    read: (b, url) => ({
      text: JSON.stringify(b), tools: (b.tools || []).flatMap((t) => (t.functionDeclarations || []).map((f) => f.name)), answers: b.contents.filter((m) => m.role === "model").length, stream: url.includes("stream"),
      told: b.contents.slice(-1).flatMap((m) => m.parts || []).filter((p) => p.functionResponse).map((p) => texts(p.functionResponse.response)),
    }),
    write: (a, b, stream) => {
      const part = a.name ? { functionCall: { name: a.name, args: a.args } } : { text: a.text };
      const answer = { candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 50, totalTokenCount: 1050 } };
      return stream ? sse([answer]) : JSON.stringify(answer);
    },
  },
];

const server = http.createServer((req, res) => {
  let body = "";
  req.on("data", (d) => (body += d));
  req.on("end", () => {
    const api = req.method === "POST" && apis.find((a) => a.path.test(req.url));
    if (!api) {
      log.write("asked " + req.method + " " + req.url + "\n");
      res.writeHead(404, { "content-type": "application/json" }).end('{"type":"error","error":{"type":"not_found_error","message":"not here"}}');
      return;
    }
    const b = JSON.parse(body);
    const asked = api.read(b, req.url);
    const answer = next(asked);
    for (const t of asked.told) log.write("told " + t.slice(0, 600) + "\n");
    log.write("answer " + asked.answers + " " + JSON.stringify(answer) + "\n");
    if (process.env.MODEL_TRACE) fs.appendFileSync(process.env.MODEL_TRACE, req.url + " " + body + "\n");
    res.writeHead(200, { "content-type": asked.stream ? "text/event-stream" : "application/json" }).end(api.write(answer, b, asked.stream));
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
