// A loopback stand-in for the Messages API: it answers every request with the next step
// of one small task, as a stream of events, and logs what the model was told.
//
//   node model.mjs LOG     prints the port it listens at
import http from "node:http";
import fs from "node:fs";

const log = fs.createWriteStream(process.argv[2], { flags: "a" });
const finish = '```json\n{"schema": "odd.finish.1", "outcome": "completed"}\n```\n';

// spoken are the messages but for the program's own reminders.
const spoken = (body) => body.messages.filter((m) => m.role !== "system");

// next is the step that follows so many answers of the model's own.
function next(body, text, n) {
  const tool = (name) => (body.tools || []).map((t) => t.name).find((t) => t === name || t.endsWith("__" + name));
  const tree = (text.match(/[Ww]orking directory: ([^\\"\s]+)/) || [])[1];
  const steps = [
    [tool("Write"), { file_path: tree + "/tool/new.txt", content: "ebb\n" }],
    [tool("Write"), { file_path: tree + "/other.txt", content: "x\n" }],
    [tool("Bash"), { command: "git push origin HEAD", description: "push" }],
    [tool("search"), { query: "shore" }],
  ].filter(([name]) => name && tree);
  const last = JSON.stringify(spoken(body).slice(-1));
  if (last.includes("held no block")) return { text: "Done.\n\n" + finish }; // what odd says to a turn that declared nothing
  return n < steps.length ? { tool: steps[n] } : { text: "I think that is all." };
}

function events(body, step) {
  const block = step.tool
    ? [{ type: "tool_use", id: "toolu_" + Math.random().toString(36).slice(2), name: step.tool[0], input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(step.tool[1]) }]
    : [{ type: "text", text: "" }, { type: "text_delta", text: step.text }];
  return [
    { type: "message_start", message: { id: "msg_" + Math.random().toString(36).slice(2), type: "message", role: "assistant", model: body.model, content: [], stop_reason: null, usage: { input_tokens: 1000, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: block[0] },
    { type: "content_block_delta", index: 0, delta: block[1] },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: step.tool ? "tool_use" : "end_turn" }, usage: { output_tokens: 50 } },
    { type: "message_stop" },
  ];
}

const server = http.createServer((req, res) => {
  let text = "";
  req.on("data", (d) => (text += d));
  req.on("end", () => {
    if (!req.url.startsWith("/v1/messages") || req.url.includes("count_tokens")) {
      log.write(req.method + " " + req.url + "\n");
      res.writeHead(404, { "content-type": "application/json" }).end('{"type":"error","error":{"type":"not_found_error","message":"not here"}}');
      return;
    }
    const body = JSON.parse(text);
    const n = body.messages.filter((m) => m.role === "assistant").length;
    const step = (body.tools || []).length ? next(body, text, n) : { text: "tides" };
    for (const m of spoken(body).slice(-1)) {
      for (const part of Array.isArray(m.content) ? m.content : []) {
        if (part.type === "tool_result") log.write("told " + JSON.stringify(part.content) + "\n");
      }
    }
    log.write("answer " + n + " " + JSON.stringify(step) + "\n");
    if (!body.stream) {
      const content = step.tool ? [{ type: "tool_use", id: "toolu_1", name: step.tool[0], input: step.tool[1] }] : [{ type: "text", text: step.text }];
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "msg_1", type: "message", role: "assistant", model: body.model, content, stop_reason: step.tool ? "tool_use" : "end_turn", usage: { input_tokens: 1000, output_tokens: 50 } }));
      return;
    }
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const e of events(body, step)) res.write("event: " + e.type + "\ndata: " + JSON.stringify(e) + "\n\n");
    res.end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
