// The page: loads the module, switches between its parts, and keeps the address.
"use strict";

const $ = (id) => document.getElementById(id);

const tabs = ["explain", "play", "schedules"];
const statuses = { shown: "explain" };

// say shows a text in the status line of a part, or of all parts.
function say(text, ...parts) {
  for (const part of parts.length ? parts : tabs) statuses[part] = text;
  $("status").textContent = statuses[statuses.shown];
}

// unpack decodes and decompresses a text.
async function unpack(text) {
  const packed = new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]);
  const gunzip = () => new DecompressionStream("gzip"); // twice, as it was compressed
  const stream = packed.stream().pipeThrough(gunzip()).pipeThrough(gunzip());
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// reader returns functions that read varints and bytes of data.
function reader(data) {
  let at = 0;
  const check = () => {
    if (at >= data.length) throw new Error("module.js is damaged, or of another version");
  };
  const number = () => {
    for (let n = 0, unit = 1; ; unit *= 128) {
      check();
      const byte = data[at++];
      n += (byte & 127) * unit;
      if (byte < 128) return n;
    }
  };
  const take = (n) => data.subarray(at, at += n);
  const until = (byte) => {
    check();
    return take((data.indexOf(byte, at) + 1 || data.length) - at);
  };
  return { number, take, until };
}

// unfold is the inverse of fold in fold.go, which describes the format.
function unfold(folded) {
  let end = 0;
  const { number, take } = reader(folded);
  const data = new Uint8Array(number());
  const length = number(), numbers = () => Array.from({ length }, number);
  const plain = numbers(), repeated = numbers(), distance = numbers();
  for (let step = 0; step < length; step++) {
    data.set(take(plain[step]), end);
    end += plain[step];
    for (const stop = end + repeated[step]; end < stop; end++) data[end] = data[end - distance[step]];
  }
  data.set(take(folded.length), end);
  return data;
}

// restoreReturns is the inverse of shortenReturns in returns.go, which describes the format.
function restoreReturns(short) {
  const { number, until } = reader(short), code = new Uint8Array(number());
  for (let end = 0, plain = 0, last = 0; end < code.length;) {
    const bytes = until(0x42);
    code.set(bytes, end);
    end += bytes.length;
    const isBefore = end - plain >= 5 && code[end - 1] === 0x42 && code[end - 2] === 1 && code[end - 3] === 0x20 &&
      code[end - 4] === 0 && code[end - 5] === 0x24;
    if (!isBefore) continue;

    const distance = number(); // twice as much, and 1 less than that if it is negative
    if (distance) {
      let rest = last += distance % 2 ? -(distance + 1) / 2 : distance / 2;
      for (; rest >= 64; rest = Math.floor(rest / 128)) code[end++] = rest % 128 + 128;
      code[end++] = rest;
    }
    plain = end;
  }
  return code;
}

// toLink compresses a text for the address.
async function toLink(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of new Uint8Array(await new Response(stream).arrayBuffer())) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// fromLink returns the text of a link, unless it is longer than a number of bytes.
async function fromLink(link, longest) {
  const bytes = Uint8Array.from(atob(link.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const pieces = [];
  for (let size = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(pieces).text();
    size += value.length;
    if (size > longest) throw new Error("it is too long");
    pieces.push(value);
  }
}

// load starts the module on this page and in a worker, which get the same compiled code.
async function load() {
  const { files, data: packed } = globalThis.batchplanZones, packedCode = globalThis.batchplanModule;
  globalThis.batchplanZones = globalThis.batchplanModule = undefined;
  const [data, code] = await Promise.all([unpack(packed), unpack(packedCode)]);
  const module = await WebAssembly.compile(restoreReturns(unfold(code)));
  startWorker(module, { files, data });
  await startEngine(module, { files, data });
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

async function readFragment() {
  const text = location.hash.slice(1);
  if (text === setFragment.last) return;
  setFragment.last = text;
  const params = new URLSearchParams(text);
  if (text.startsWith("why/")) {
    show("explain");
    openSituation(text.slice(4));
  } else if (params.get("why")) {
    show("explain");
    await openShared(params);
  } else if (params.get("play")) {
    show("play");
    await openScript(params.get("play"), params.get("step"));
  } else if (params.has("schedule")) {
    show("schedules");
    openSchedule(params);
  } else if (tabs.includes(text)) {
    show(text);
  } else {
    show("explain");
    openSituation(situations[0].name, true);
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
  addEventListener("hashchange", readFragment);
  await readFragment();
  document.documentElement.dataset.ready = "true";
});
