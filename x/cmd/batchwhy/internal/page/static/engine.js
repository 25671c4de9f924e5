// The engine runs the module, on the page and in its worker. The worker explains, so that the page
// reacts whatever is pasted; the page itself plays and shows schedules.
"use strict";

// call calls a function of the module. An error of the module is thrown.
function call(name, ...args) {
  const answer = JSON.parse(globalThis.batchplan[name](...args));
  if (answer && answer.error) throw new Error(answer.error);
  return answer;
}

// pause lets the browser draw, react and receive messages.
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

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

// startEngine runs the module.
async function startEngine(module, zones) {
  serveZones(zones.files, zones.data);
  const go = new Go();
  go.run(await WebAssembly.instantiate(module, go.importObject));
}

// explainInputs reads inputs in pieces, explains them, and passes on what it has so far, until the
// request is stale. The report comes last.
async function explainInputs({ inputs, at, written, now, ahead }, tell, stale) {
  call("reset");
  const total = inputs.reduce((sum, input) => sum + input.blob.size, 0) || 1;
  let done = 0;
  for (const input of inputs) {
    call("open", input.name);
    for (let from = 0; from < input.blob.size; from += 1 << 16) {
      const piece = new Uint8Array(await input.blob.slice(from, from + (1 << 16)).arrayBuffer());
      if (stale()) return;
      call("write", piece);
      done += piece.length;
      tell({ progress: 70 * done / total, text: `Reading ${Math.round(done / 1024)} of ${Math.round(total / 1024)} KB` });
      await pause();
      if (stale()) return;
    }
    call("close");
  }
  const { count, ...asOf } = call("begin", JSON.stringify({ at, written, now, for: ahead }));
  for (let explained = 0, report; !report;) {
    const some = call("some", 15);
    explained += some.objects.length;
    report = some.report;
    tell({ count, asOf, objects: some.objects, report, progress: 70 + 30 * explained / (count || 1) });
    await pause();
    if (stale()) return;
  }
}

// A worker gets the module first, and then requests. A new request replaces the one in progress.
if (typeof document === "undefined") {
  let started, latest = 0;
  globalThis.onmessage = async ({ data }) => {
    if (data.module) {
      started = startEngine(data.module, data.zones);
      return;
    }
    latest = data.run;
    const tell = (message) => postMessage({ ...message, run: data.run });
    try {
      await started;
      await explainInputs(data, tell, () => latest !== data.run);
    } catch (error) {
      tell({ error: error.message });
    }
  };
}
