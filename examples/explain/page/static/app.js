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

// unpack decodes and decompresses a text, as often as it was compressed.
async function unpack(text, times) {
  let stream = new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]).stream();
  for (let i = 0; i < times; i++) stream = stream.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// serveZones lets the module read the files of the zone database, and no others.
function serveZones(files, data) {
  const folder = "/usr/share/zoneinfo/", opened = new Map(), { fstat, read, close } = globalThis.fs;
  const missing = Object.assign(new Error("no such file"), { code: "ENOENT" });
  let last = 100;
  globalThis.fs.open = (path, flags, mode, callback) => {
    path = path.replace(/\/+/g, "/"); // Go asks for the folder, a slash and the name
    const name = path.slice(folder.length);
    if (!path.startsWith(folder) || !Object.hasOwn(files, name)) return callback(missing);
    const [from, length] = files[name];
    opened.set(++last, { from, to: from + length });
    callback(null, last);
  };
  globalThis.fs.fstat = (fd, callback) => (opened.has(fd) ? callback(null, { isDirectory: () => false }) : fstat(fd, callback));
  globalThis.fs.read = (fd, buffer, offset, length, position, callback) => {
    const file = opened.get(fd);
    if (!file) return read(fd, buffer, offset, length, position, callback);
    const piece = data.subarray(file.from, Math.min(file.from + length, file.to));
    buffer.set(piece, offset);
    file.from += piece.length;
    callback(null, piece.length);
  };
  globalThis.fs.close = (fd, callback) => (opened.delete(fd) ? callback(null) : close(fd, callback));
}

async function load() {
  const zones = globalThis.batchplanZones, module = globalThis.batchplanModule;
  globalThis.batchplanZones = globalThis.batchplanModule = undefined;
  const [data, code] = await Promise.all([unpack(zones.data, 1), unpack(module, 2)]);
  serveZones(zones.files, data);
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(code, go.importObject);
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
