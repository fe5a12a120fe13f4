// Search as you type, and on a served site what changed on the board.
"use strict";
const top_ = document.documentElement;
const root = top_.dataset.root;
const input = document.getElementById("q");
const hits = document.getElementById("hits");
const told = document.getElementById("told");
let loading;

// The index is loaded when somebody begins to search, as a script: that works from a
// folder too.
function load() {
  loading ??= new Promise((done, fail) => {
    const s = document.createElement("script");
    s.src = root + "search.js";
    s.onload = () => {
      window.oddIndex.forEach((e) => e.push((e[0] + " " + e[1]).toLowerCase(), e[3].toLowerCase()));
      done();
    };
    s.onerror = fail;
    document.head.append(s);
  });
  return loading;
}

// Every word must occur; a title that begins with the words stands first.
function find(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (const e of window.oddIndex) {
    let score = 0;
    for (const w of words) {
      const at = e[4].indexOf(w);
      if (at >= 0) score += at === 0 || e[4][at - 1] === " " ? 4 : 2;
      else if (e[5].includes(w)) score += 1;
      else { score = -1; break; }
    }
    if (score > 0) found.push([score, e]);
  }
  return found.sort((a, b) => b[0] - a[0]).map((f) => f[1]);
}

async function search() {
  const query = input.value.trim();
  if (!query) { hits.hidden = true; tell(""); return; }
  await load();
  if (query !== input.value.trim()) return;
  const found = find(query);
  hits.replaceChildren(...found.slice(0, 30).map((e) => {
    const li = document.createElement("li"), a = document.createElement("a"), b = document.createElement("b");
    a.href = root + (e[2] === "task" ? "task/" : "atom/") + e[0] + ".html";
    b.textContent = e[1] || e[0];
    a.append(b, " " + e[2] + (e[3] ? ": " + e[3] : ""));
    li.append(a);
    return li;
  }));
  hits.hidden = found.length === 0;
  tell(found.length === 0 ? "no result" : found.length === 1 ? "1 result" : found.length + " results");
}

// A screen reader is told the number of results; that there is none is seen too.
function tell(text) {
  told.textContent = text;
  told.classList.toggle("hidden", text !== "no result");
}

input.addEventListener("focus", load);
input.addEventListener("input", search);
document.addEventListener("keydown", (ev) => {
  if (ev.key === "/" && document.activeElement !== input) { ev.preventDefault(); input.focus(); return; }
  if (!ev.target.closest(".search")) return;
  const links = [...hits.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (ev.key === "Escape") { hits.hidden = true; input.focus(); }
  if (ev.key === "ArrowDown" && links.length) { ev.preventDefault(); links[Math.min(at + 1, links.length - 1)].focus(); }
  if (ev.key === "ArrowUp" && links.length) { ev.preventDefault(); (at <= 0 ? input : links[at - 1]).focus(); }
  if (ev.key === "Enter" && document.activeElement === input && links.length) { ev.preventDefault(); links[0].click(); }
});
document.addEventListener("click", (ev) => { if (!ev.target.closest(".search")) hits.hidden = true; });

// What changed is put in the place of what was there: the search, the scroll position and
// the focus stay.
async function refresh(state) {
  const answer = await fetch(location.href, { cache: "no-store" });
  if (answer.redirected) { location.replace(answer.url); return; }
  if (!answer.ok) return location.reload();
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const at = document.activeElement.closest("main a")?.getAttribute("href");
  for (const part of ["main", "footer"]) document.querySelector(part).replaceWith(fresh.querySelector(part));
  if (at) document.querySelector(`main a[href="${CSS.escape(at)}"]`)?.focus();
  top_.dataset.live = state;
}

if (top_.dataset.live) {
  setInterval(async () => {
    try {
      const at = await (await fetch("/tip", { cache: "no-store" })).text();
      if (at && at !== top_.dataset.live) await refresh(at);
    } catch { /* the server has ended; the page stays as it is */ }
  }, 2000);
}
