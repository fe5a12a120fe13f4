#!/usr/bin/env node
// Runs the program that npm installed for this system, with the same arguments,
// and ends as it ends.
const { spawnSync } = require("child_process");
const name = `@odd-cli/odd-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/odd`);
} catch {
  console.error(`odd: there is no program for ${process.platform} on ${process.arch}; npm install ${name}, or build odd from source`);
  process.exit(1);
}
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`odd: ${error.message}`);
  process.exit(1);
}
if (signal) process.kill(process.pid, signal);
process.exit(status);
