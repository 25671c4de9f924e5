// The page: loads the module, switches between its parts, and keeps the address.
"use strict";

const $ = (id) => document.getElementById(id);

// call calls a function of the module. An error of the module is thrown.
function call(name, ...args) {
  const answer = JSON.parse(globalThis.batchplan[name](...args));
  if (answer && answer.error) throw new Error(answer.error);
  return answer;
}

// pause lets the browser draw and react.
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

const tabs = ["explain", "play", "schedules"];
const statuses = { shown: "explain" };

// say shows a text in the status line of a part, or in that of all parts.
function say(text, ...parts) {
  for (const part of parts.length ? parts : tabs) statuses[part] = text;
  $("status").textContent = statuses[statuses.shown];
}

async function load() {
  const packed = Uint8Array.from(atob(globalThis.batchplanModule), (c) => c.charCodeAt(0));
  globalThis.batchplanModule = undefined;
  const plain = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
  // There are no files here. Go's own answer, "not implemented", would hide that a zone is
  // unknown.
  globalThis.fs.open = (path, flags, mode, callback) => callback(Object.assign(new Error("no such file"), { code: "ENOENT" }));
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(await plain.arrayBuffer(), go.importObject);
  go.run(instance);
}

function show(name, focus) {
  for (const tab of tabs) {
    const selected = tab === name;
    $("tab-" + tab).setAttribute("aria-selected", String(selected));
    $("tab-" + tab).tabIndex = selected ? 0 : -1;
    $("panel-" + tab).hidden = !selected;
  }
  statuses.shown = name;
  $("status").textContent = statuses[name];
  if (focus) $("tab-" + name).focus();
}

// setFragment puts a state into the address without loading anything.
function setFragment(text) {
  const base = location.href.split("#")[0];
  try {
    history.replaceState(null, "", base + "#" + text);
  } catch {
    location.hash = text; // some browsers refuse the first for files
  }
  setFragment.last = text;
}

function readFragment() {
  const text = location.hash.slice(1);
  if (text === setFragment.last) return;
  setFragment.last = text;
  const params = new URLSearchParams(text);
  if (params.has("play")) {
    show("play");
    openScript(params.get("play"), params.get("step"));
  } else if (params.has("schedule")) {
    show("schedules");
    openSchedule(params);
  } else if (tabs.includes(text)) {
    show(text);
  }
}

function useScheme(dark) {
  document.documentElement.dataset.scheme = dark ? "dark" : "light";
  $("scheme").setAttribute("aria-pressed", String(dark));
}

document.addEventListener("DOMContentLoaded", async () => {
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  useScheme(prefers.matches);
  prefers.addEventListener("change", () => useScheme(prefers.matches));
  $("scheme").addEventListener("click", () => useScheme(document.documentElement.dataset.scheme !== "dark"));
  tabs.forEach((tab, i) => {
    $("tab-" + tab).addEventListener("click", () => { show(tab); setFragment(tab); });
    $("tab-" + tab).addEventListener("keydown", (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!move) return;
      const next = tabs[(i + move + tabs.length) % tabs.length];
      show(next, true);
      setFragment(next);
    });
  });
  try {
    const before = performance.now();
    await load();
    say("Ready.");
    document.documentElement.dataset.loaded = String(Math.round(performance.now() - before));
  } catch (error) {
    say("The module cannot be loaded: " + error.message);
    return;
  }
  startExplain();
  startPlay();
  startSchedules();
  readFragment();
  addEventListener("hashchange", readFragment);
  document.documentElement.dataset.ready = "true";
});
