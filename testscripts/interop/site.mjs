// Opens the pages of odd site or odd serve in a headless Chromium and tells what is wrong
// with them.
//
//   node site.mjs NPM CHROMIUM SHOTS URL [ODD]   NPM has playwright-core and axe-core; URL is the board
//
// PAGES is how many pages are opened at least, all if left out. With ODD, that odd drains a
// task in the current folder while the page of the board is open; its agent reads the pipe GO.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [npm, executablePath, shots, start, odd] = process.argv.slice(2);
const most = Number(process.env.PAGES ?? Infinity);
const require = createRequire(join(npm, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const served = start.startsWith("http:");
mkdirSync(shots, { recursive: true });

let failed = false;
const fail = (...what) => { failed = true; console.log("FAIL ", ...what); };
const ok = (what) => console.log("ok   ", what);
const check = (holds, what, detail = "") => (holds ? ok(what) : fail(what, detail));

const browser = await chromium.launch({ executablePath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
// refusing is on while the test asks for what the server must refuse.
let refusing = false;
page.on("console", (m) => { if (!refusing && ["error", "warning"].includes(m.type())) fail(page.url(), "console:", m.text()); });
page.on("pageerror", (e) => fail(page.url(), "script:", e.message));
page.on("requestfailed", (r) => { if (r.failure().errorText !== "net::ERR_ABORTED") fail(page.url(), "request:", r.url(), r.failure().errorText); });
page.on("response", (r) => { if (!refusing && r.status() >= 400) fail(page.url(), "answer:", r.url(), r.status()); });
page.on("request", (r) => { const u = new URL(r.url()); if (u.protocol !== "data:" && (u.protocol !== new URL(start).protocol || u.host !== new URL(start).host)) fail(page.url(), "leaves the site:", r.url()); });

if (served) {
  refusing = true;
  for (const [who, path] of [["no token", "/"], ["a wrong token", "/?token=no"]]) {
    const answer = await page.goto(new URL(path, start).href);
    check(answer.status() === 403 && !(await page.content()).includes("<h1>"), `${who} is refused`, answer.status());
  }
  await page.goto("about:blank");
  refusing = false;
}
await page.goto(start);
const home = page.url();
if (served) check(!home.includes("token"), "the token leaves the address", home);
const top = new URL(".", home).href;

// Every page that a link leads to is opened, and every place on a page that one names.
const kind = (url) => url.slice(top.length).replace(/[/].*/, "/").replace(".html", "") || "index";
const kinds = new Map();
const seen = new Set([home]);
const ids = new Map();
const places = [];
let dead = 0;
for (const url of seen) {
  if (ids.size >= most && kinds.has(kind(url))) continue;
  const answer = await page.goto(url).catch((e) => { dead++; fail("dead link:", url, e.message.split("\n")[0]); });
  if (!answer) {
    await page.waitForURL("chrome-error://**").catch(() => {}); // Chromium's own page of the error comes later
    continue;
  }
  if (answer.status() >= 400) dead++;
  const found = await page.evaluate(() => ({
    links: [...document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href")),
    ids: [...document.querySelectorAll("[id]")].map((e) => e.id),
    h1: document.querySelectorAll("h1").length,
    title: document.title,
  }));
  if (found.h1 !== 1 || !found.title) fail(url, `has ${found.h1} h1 and the title "${found.title}"`);
  ids.set(url, new Set(found.ids));
  if (!kinds.has(kind(url))) kinds.set(kind(url), url);
  for (const href of found.links) {
    const to = new URL(href, url);
    if (!to.href.startsWith(top)) {
      if (!["http:", "https:", "mailto:"].includes(to.protocol)) fail(url, "leads out of the site:", href);
      continue;
    }
    if (to.hash) places.push([url, to.href.split("#")[0], decodeURIComponent(to.hash.slice(1))]);
    to.hash = "";
    seen.add(to.href);
  }
}
for (const [from, to, id] of places) if (ids.has(to) && !ids.get(to).has(id)) { dead++; fail(from, "leads to no place:", `${to}#${id}`); }
if (dead === 0) ok(`${ids.size} pages of ${kinds.size} kinds opened, no dead link`);
for (const k of ["index", "knowledge", "log", "spend", "promises", "tasks/", "task/", "review/", "atom/"]) if (!kinds.has(k)) fail("no link leads to a page of the kind", k);
kinds.set("guide", new URL("atom/first-day.html", top).href);

// Each kind of page on a phone and a desk, in light and dark.
let bad = 0;
for (const [k, url] of kinds) {
  for (const width of [400, 1280]) {
    for (const colorScheme of ["light", "dark"]) {
      const at = `${k} ${width} ${colorScheme}`;
      await page.setViewportSize({ width, height: 1400 });
      await page.emulateMedia({ colorScheme });
      await page.goto(url);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run({ preload: false }));
      for (const v of violations) {
        const what = `${at}: ${v.impact} ${v.id}: ${v.nodes[0].target} ${v.nodes[0].failureSummary.split("\n")[1] ?? ""}`;
        if (["serious", "critical"].includes(v.impact)) { bad++; fail(what); } else console.log("note ", what);
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) { bad++; fail(`${at}: ${wide} px wider than the window`); }
      await page.screenshot({ path: join(shots, at.replaceAll(/[ /]+/g, "-") + ".png") });
    }
  }
}
if (bad === 0) ok(`${kinds.size} kinds of pages × 400 and 1280 px × light and dark: nothing serious by axe, none too wide`);
await page.emulateMedia({ colorScheme: "light" });
await page.setViewportSize({ width: 1280, height: 900 });

// The keyboard alone: the skip link, search as one types, the picture of neighbours.
const focused = () => page.evaluate(() => {
  const e = document.activeElement;
  return { id: e.id, href: e.getAttribute("href"), seen: getComputedStyle(e).outlineStyle !== "none" && e.getClientRects().length > 0, picture: !!e.closest(".picture"), main: !!e.closest("main") };
});
await page.goto(home);
await page.keyboard.press("Tab");
check((await focused()).href === "#main", "the first Tab is the way past the header");
await page.keyboard.press("Enter");
await page.keyboard.press("Tab");
check((await focused()).main, "it leads into the content");
await page.goto(home);
await page.keyboard.press("/");
check((await focused()).id === "q", "/ goes to the search");
const counts = [];
for (const key of "close") {
  const before = await page.textContent("#told");
  await page.keyboard.press(key);
  await page.waitForFunction((was) => document.getElementById("told").textContent !== was, before, { timeout: 3000 }).catch(() => {}); // two keys may have as many results
  counts.push(await page.locator("#hits a").count());
}
check(counts.every((n) => n > 0) && counts.at(-1) < counts[0], "each key narrows the results", counts.join(" "));
check(/^[0-9]+ results?$/.test(await page.textContent("#told")), "the number of results is told to a screen reader");
await page.screenshot({ path: join(shots, "search.png") });
await page.keyboard.press("ArrowDown");
const hit = await focused();
check(hit.href && hit.seen, "an arrow goes into the results, and shows where", JSON.stringify(hit));
await page.keyboard.press("Escape");
check((await focused()).id === "q" && await page.isHidden("#hits"), "Escape ends the search");
await page.keyboard.press("Backspace");
await page.waitForSelector("#hits:not([hidden])");
const first = new URL(await page.locator("#hits a").first().getAttribute("href"), home).href;
await page.keyboard.press("Enter");
await page.waitForURL(first);
ok("Enter opens the first result");
await page.fill("#q", "no such word at all");
await page.waitForFunction(() => document.getElementById("told").textContent === "no result");
check((await page.locator("#told").boundingBox()).width > 20, "that nothing was found can be seen");

const drawn = kinds.get("guide");
await page.goto(drawn);
let at;
for (let i = 0; i < 40 && !at?.picture; i++) { await page.keyboard.press("Tab"); at = await focused(); }
check(at.picture && at.seen, "Tab reaches the picture of neighbours, and shows where", JSON.stringify(at));
if (at.picture) {
  await page.keyboard.press("Enter");
  await page.waitForURL(new URL(at.href, drawn).href);
  ok("Enter goes on to a neighbour");
}

// What odd drain does is seen on the board without a new page: the focus stays.
if (odd) {
  await page.goto(home);
  await page.focus('a[href="task/mend-the-crane.html"]');
  await page.evaluate(() => { window.same = true; });
  const drain = spawn(odd, ["drain"], { stdio: "inherit" });
  const ended = once(drain, "exit");
  const card = (state) => page.waitForSelector(`.column.${state} a[href$="/paint-the-slipway.html"]`, { timeout: 60000 });
  await card("in_progress");
  writeFileSync(process.env.GO, "");
  await card("review");
  check(await page.evaluate(() => window.same) && (await focused()).href === "task/mend-the-crane.html", "the board shows a task in progress and then its review while odd drain runs, and the focus stays");
  check((await ended)[0] === 0, "odd drain ends well");
}

// Figures, of which none fails: they are the machine's as much as the page's.
// A new tab pays for the browser's process too, which a page of one word shows.
const word = "data:text/html,<p>x";
const paints = async (url, fresh) => {
  const times = [];
  for (let i = 0; i < 7; i++) {
    const tab = fresh ? await context.newPage() : page;
    if (!fresh) await page.goto(new URL("promises.html", top).href);
    await tab.goto(url);
    times.push(await tab.evaluate(() => new Promise((done) => new PerformanceObserver((l) => done(l.getEntries()[0].startTime)).observe({ type: "paint", buffered: true }))));
    if (fresh) await tab.close();
  }
  return times.sort((a, b) => a - b)[3].toFixed(0);
};
console.log(`      first paint in ms, median of 7: ${await paints(word, true)} a page of one word in a new tab`);
for (const url of [home, new URL("knowledge.html", top).href]) {
  const [opened, fresh] = [await paints(url, false), await paints(url, true)];
  await page.goto(url);
  const [nodes, bytes] = await page.evaluate(() => [document.querySelectorAll("*").length, document.documentElement.outerHTML.length]);
  console.log(`      ${opened} ${kind(url)}, ${fresh} in a new tab: ${nodes} elements, ${(bytes / 1000).toFixed(0)} kB`);
}
const key = await page.evaluate(async () => {
  input.value = "close";
  await load();
  const from = performance.now();
  await search();
  return performance.now() - from;
});
console.log(`      ${key.toFixed(0)} ms to search after a key`);
await browser.close();
process.exit(failed ? 1 : 0);
