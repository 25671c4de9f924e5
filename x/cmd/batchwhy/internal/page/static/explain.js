// Explain: reads texts and files in pieces, and shows what the module says.
"use strict";

const pageSize = 50;

// few is the maximum number of objects of which all are shown. Of more, the healthy ones are folded.
const few = 10;

// maxField is the maximum number of characters that the field shows. A browser lays out a field as a whole: for
// the output of kubectl, Chromium takes 0.1 s for 46 KB, 1 s for 190 KB, and 46 s for 1.3 MB.
const maxField = 30_000;

const explained = { objects: [], shown: 0, run: 0, files: [], queue: [] };

// startWorker starts the worker that explains. Its script is a text of this page, since a page
// that is opened from disk may load no other. Without a worker the page explains by itself.
function startWorker(module, zones) {
  const address = URL.createObjectURL(new Blob([globalThis.batchplanWorker], { type: "text/javascript" }));
  try {
    explained.worker = new Worker(address);
  } catch {
    return;
  }
  explained.worker.onmessage = ({ data }) => hear(data);
  explained.worker.onerror = (event) => {
    event.preventDefault();
    explained.worker = undefined;
    if (explained.busy) ask(explained.busy);
  };
  explained.worker.postMessage({ module, zones });
}

function startExplain() {
  $("explain").addEventListener("click", () => explainText());
  $("file").addEventListener("change", () => { explained.files = [...$("file").files]; explainFiles(explained.files); });
  $("more").addEventListener("click", showMore);
  $("share").addEventListener("click", share);
  $("drop").addEventListener("click", () => { put(""); $("input").focus(); });
  $("input").addEventListener("dragstart", (event) => event.preventDefault()); // a drop replaces the whole text
  $("input").addEventListener("input", takeBack);
  $("input").addEventListener("paste", (event) => {
    const field = $("input"), text = event.clipboardData.getData("text/plain");
    if (!text) return; // a picture or a file
    const whole = field.readOnly ? text : field.value.slice(0, field.selectionStart) + text + field.value.slice(field.selectionEnd);
    if (whole.length <= maxField && !field.readOnly) return; // the browser pastes it, and says so by the event input
    event.preventDefault();
    put(whole);
    explainText();
  });
  $("famous").replaceChildren(); // the links for browsers without scripts
  for (const one of situations) {
    if (one.more) continue;
    const link = element("a", one.title);
    link.href = "#why/" + one.name;
    const item = element("li");
    item.append(link);
    $("famous").append(item);
  }
  const panel = $("panel-explain");
  panel.addEventListener("dragover", (event) => { event.preventDefault(); $("input").classList.add("over"); });
  panel.addEventListener("dragleave", () => $("input").classList.remove("over"));
  panel.addEventListener("drop", (event) => {
    event.preventDefault();
    $("input").classList.remove("over");
    const files = [...event.dataTransfer.files];
    if (files.length) return explainFiles(files);
    const text = event.dataTransfer.getData("text/plain");
    if (!text) return; // a picture, or a link without a text
    put(text);
    explainText();
  });
}

// put puts a text into the field. For a long text, the field shows the beginning and is read-only.
function put(text) {
  takeBack();
  const field = $("input"), long = text.length > maxField;
  explained.held = long ? text : "";
  field.value = long ? text.slice(0, 4000) + "\n…" : text;
  field.readOnly = long;
  field.scrollTop = 0;
  $("held").hidden = !long;
  if (long) $("held-size").textContent = `${Math.round(text.length / 1024).toLocaleString("en")} KB are pasted. The field shows the beginning.`;
}

// takeBack clears the fields that an example has set: the next input is the user's own.
function takeBack() {
  if (explained.lent && $("at").value === explained.lent) [$("at").value, $("ahead").value] = ["", "0"];
  explained.lent = "";
}

const pasted = () => ($("input").readOnly ? explained.held : $("input").value);

// openSituation explains a ready-made input, whose link is #why/ and its name.
function openSituation(name, quietly) {
  const one = situations.find((s) => s.name === name);
  if (!one) {
    $("problems").replaceChildren(element("p", `There is no example "${name}".`, "error"));
    return;
  }
  put(one.text);
  $("at").value = explained.lent = one.at;
  $("ahead").value = String(one.ahead);
  explainText(one.note);
  for (const link of $("famous").querySelectorAll("a")) if (link.hash === "#why/" + name) link.setAttribute("aria-current", "true");
  if (!quietly && innerWidth < 1024) $("progress").scrollIntoView();
}

// maxShared is the maximum size in bytes of a situation in a link.
const maxShared = 5e6;

// share puts what is pasted into the address, compressed. It stays in the part of the address that
// browsers send to nobody; whoever gets the link can read it.
async function share() {
  const text = pasted();
  const note = $("share-note");
  note.hidden = false;
  if (!text.trim()) {
    note.textContent = "There is nothing to share: paste something first.";
    return;
  }
  const params = new URLSearchParams({ why: await toLink(text) });
  for (const id of ["at", "ahead"]) if ($(id).value && $(id).value !== "0") params.set(id, $(id).value);
  setFragment(params.toString());
  let how = "Copy it from the address.";
  try {
    await navigator.clipboard.writeText(location.href);
    how = "It is copied.";
  } catch { /* the address has it */ }
  note.textContent = `The link holds all that you pasted, ${Math.ceil(location.href.length / 1024)} KB, names and environment variables included: whoever has it can read that. No server gets it. ${how}`;
}

async function openShared(params) {
  try {
    put(await fromLink(params.get("why"), maxShared));
  } catch (error) {
    $("problems").replaceChildren(element("p", "The link is damaged: " + error.message, "error"));
    return;
  }
  $("at").value = params.get("at") || "";
  $("ahead").value = params.get("ahead") || "0";
  explainText("From a shared link.");
}

function explainText(note) {
  const text = pasted();
  const name = text.trimStart().startsWith("{") ? "pasted text" : "pasted text.yaml";
  return explainBlobs([{ name, blob: new Blob([text]) }], undefined, note);
}

// explainFiles explains files. How old they are depends on what they contain and on when the newest was written.
function explainFiles(files) {
  takeBack();
  const newest = files.reduce((last, file) => Math.max(last, file.lastModified), 0);
  return explainBlobs(files.map((file) => ({ name: file.name, blob: file })), newest ? new Date(newest) : undefined);
}

// timeOf returns the time in a field, or another one if the field is empty.
function timeOf(id, otherwise) {
  const text = $(id).value.trim();
  if (!text) return otherwise;
  const t = new Date(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : text.replace(" ", "T") + "Z");
  if (Number.isNaN(t.getTime())) throw Object.assign(new Error(`"${text}" is not a time such as 2026-01-31T18:00:00Z`), { input: id });
  return t;
}

function explainBlobs(inputs, written, note) {
  const run = ++explained.run;
  for (const link of $("famous").querySelectorAll("[aria-current]")) link.removeAttribute("aria-current");
  $("problems").replaceChildren();
  $("results").replaceChildren();
  $("well").replaceChildren();
  $("more").hidden = true;
  Object.assign(explained, { objects: [], shown: 0, queue: [], said: "", note, started: performance.now() });
  try {
    explained.busy = { run, inputs, at: timeOf("at"), written, now: new Date(), ahead: Number($("ahead").value) };
  } catch (error) {
    return hear({ run, error: error.message });
  }
  $("progress").hidden = false;
  $("progress").value = 0;
  ask(explained.busy);
}

// ask hands a request to the worker or, without one, to this page.
function ask(request) {
  if (explained.worker) return explained.worker.postMessage(request);
  const tell = (message) => hear({ ...message, run: request.run });
  explainInputs(request, tell, () => request.run !== explained.run).catch((error) => tell({ error: error.message }));
}

// hear takes a part of the answer to a request, if the request is the latest one. If there are many
// objects, only those with findings are shown until all are there.
function hear(message) {
  if (message.run !== explained.run) return;
  if (message.error) {
    $("problems").append(element("p", message.error, "error"));
    say("", "explain");
    $("progress").hidden = true;
    explained.busy = undefined;
    return;
  }
  $("progress").value = message.progress;
  if (message.text) say(message.text, "explain");
  if (message.asOf) explained.asOf = message.asOf;
  for (const one of message.objects || []) {
    explained.objects.push(one);
    if (explained.shown < pageSize && (message.count <= few || badness(one) < 2)) draw(one);
  }
  if (message.report) {
    explained.busy = undefined;
    finish(message.report, performance.now() - explained.started);
  }
}

// draw draws objects when it is their turn.
function draw(...objects) {
  explained.shown += objects.length;
  later(objects.map((x) => () => $("results").append(articleOf(x))));
}

// later carries out the tasks in turns of a few milliseconds, so that the page reacts in between, and then calls
// drawn.
function later(tasks) {
  explained.queue.push(...tasks);
  if (explained.drawing) return;
  explained.drawing = true;
  const some = () => {
    const until = performance.now() + 10;
    while (explained.queue.length && performance.now() < until) explained.queue.shift()();
    if (explained.queue.length) return setTimeout(some);
    explained.drawing = false;
    drawn();
  };
  setTimeout(some);
}

// drawn shows the summary once everything has arrived and is on the page.
function drawn() {
  if (explained.busy || !explained.said) return;
  if (explained.note) $("results").prepend(element("p", explained.note, "note"));
  explained.note = "";
  $("more").hidden = explained.shown >= explained.objects.length;
  $("progress").hidden = true;
  say(explained.said, "explain");
}

function finish(report, took) {
  for (const problem of (report.problems || []).slice(0, 20)) {
    const place = (problem.file || "") + (problem.line ? ":" + problem.line : "");
    $("problems").append(element("p", place + ": " + problem.text, "error"));
  }
  const more = (report.problems || []).length - 20 + (report.moreProblems || 0);
  if (more > 0) $("problems").append(element("p", `and ${more} more`, "error"));
  const { at, from, warning } = explained.asOf;
  if (warning) $("problems").append(element("p", warning, "note"));
  for (const finding of report.findings || []) $("results").prepend(findingOf(finding));
  if (!explained.objects.length && !(report.problems || []).length) $("problems").append(element("p", "The input contains no Job or CronJob.", "error"));
  const total = explained.objects.length, bad = explained.objects.filter((x) => badness(x) < 2), well = explained.objects.filter((x) => badness(x) >= 2);
  explained.said = `${total} explained, ${bad.length} with findings, as of ${at.slice(0, 19).replace("T", " ")} UTC${from}. All times are UTC.`;
  document.documentElement.dataset.explained = String(Math.round(took));
  if (total > few) {
    if (well.length) $("well").append(wellOf(well));
    explained.objects = worstFirst(bad);
    $("results").querySelectorAll("article").forEach((node) => node.remove());
    Object.assign(explained, { shown: 0, queue: [] });
    showMore();
  } else if (!explained.drawing) {
    drawn();
  }
}

function showMore() { draw(...explained.objects.slice(explained.shown, explained.shown + pageSize)); }

const worst = (x) => x.findings.find((f) => f.severity === ["error", "warning"][badness(x)]).code;

// worstFirst sorts objects by their worst finding: the most severe first, then the most frequent.
function worstFirst(bad) {
  const counts = new Map();
  for (const x of bad) counts.set(worst(x), (counts.get(worst(x)) || 0) + 1);
  return bad.sort((a, b) => badness(a) - badness(b) || counts.get(worst(b)) - counts.get(worst(a)) || worst(a).localeCompare(worst(b)));
}

// wellOf returns one line for all healthy objects. It opens to a line for each object, which opens to its explanation.
function wellOf(list) {
  const states = new Map();
  for (const x of list) states.set(x.kind + " " + x.state, (states.get(x.kind + " " + x.state) || 0) + 1);
  const parts = [...states].sort((a, b) => b[1] - a[1]).map(([key, n]) => `${n} ${n === 1 ? key : key.replace(" ", "s ")}`);
  return foldOf([`${list.length === 1 ? "1 object is" : list.length + " objects are"} well: ${parts.join(", ")}.`], (details) => addLines(details, list, 0));
}

// addLines adds a page of healthy objects.
function addLines(details, list, from) {
  const to = Math.min(from + 4 * pageSize, list.length);
  later(list.slice(from, to).map((x) => () => {
    const name = `${x.kind} ${x.namespace ? x.namespace + "/" : ""}${x.name}`;
    details.append(foldOf([name, element("span", x.state, "state " + colourOf(x.state))], (line) => line.append(articleOf(x))));
  }));
  if (to === list.length) return;
  later([() => {
    const more = element("button", `Show more of ${list.length}`);
    more.type = "button";
    more.addEventListener("click", () => { more.remove(); addLines(details, list, to); });
    details.append(more);
  }]);
}

// foldOf returns a fold that gets its content when it is opened.
function foldOf(title, fill) {
  const details = element("details"), summary = element("summary");
  summary.append(...title);
  details.append(summary);
  details.addEventListener("toggle", () => fill(details), { once: true });
  return details;
}

// badness is how severe the worst finding is: 0 for an error, 3 for none.
const badness = (x) => Math.min(3, ...(x.findings || []).map((f) => ["error", "warning", "note"].indexOf(f.severity)));

function colourOf(state) {
  if (["complete", "running", "scheduled"].includes(state)) return "good";
  return ["failed", "broken", "stuck", "failing"].includes(state) ? "error" : "warning";
}

function withInferred(node, inferred) {
  if (inferred) node.append(element("span", " inferred", "inferred"));
  return node;
}

function findingOf(finding) {
  const p = element("p", undefined, "finding " + finding.severity);
  p.append(element("span", finding.severity, "severity"), " ", element("strong", finding.code + ": "), finding.text);
  withInferred(p, finding.inferred);
  const box = element("div", undefined, "trouble is-" + finding.severity);
  box.append(p, remediesOf(finding.remedies || []));
  return box;
}

// remediesOf lists what to do, the likeliest cause first, each with its command to copy.
function remediesOf(remedies) {
  const list = element("ol", undefined, "remedies");
  for (const remedy of remedies) {
    const item = element("li");
    if (remedy.if) item.append(element("em", "If " + remedy.if + ": "));
    item.append(remedy.do + " ", element("span", remedy.risk, "risk"));
    if (remedy.command) item.append(commandOf(remedy.command));
    list.append(item);
  }
  return list;
}

function commandOf(command) {
  const row = element("div", undefined, "command");
  const copy = element("button", "Copy");
  copy.type = "button";
  copy.setAttribute("aria-label", "Copy the command " + command);
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      say("Copied.", "explain");
    } catch {
      getSelection().selectAllChildren(row.firstChild); // a page from disk may not write to the clipboard
    }
  });
  row.append(element("code", command), copy);
  return row;
}

function listOf(items, className) {
  const ul = element("ul", undefined, className);
  for (const item of items) ul.append(withInferred(element("li", item.text), item.inferred));
  return ul;
}

function section(parent, title, node) { parent.append(element("h3", title), node); }

function articleOf(x) {
  const article = element("article");
  const heading = element("h2", x.kind + " " + (x.namespace ? x.namespace + "/" : "") + x.name);
  heading.append(element("span", x.state, "state " + colourOf(x.state)));
  article.append(heading, element("p", x.summary));
  for (const finding of x.findings || []) article.append(findingOf(finding));
  if (x.timeline) article.append(drawTimeline(x.timeline, x.kind + " " + x.name));
  if (x.next) section(article, "What comes next", listOf(x.next));
  if (x.schedule && (x.schedule.last || x.schedule.next)) section(article, `Runs of ${x.schedule.spec}`, runsOf(x.schedule));
  if (x.facts) section(article, "Facts", listOf(x.facts, "facts"));
  if (x.pods) article.append(detailsOf(`Pods (${x.pods.length + (x.morePods || 0)})`, listOf(x.pods.map((p) => ({
    text: p.name + (p.index === undefined ? "" : ` (index ${p.index})`) + ": " + p.text,
  })))));
  if (x.forecast) section(article, "Forecast until " + x.forecast.until.slice(0, 19).replace("T", " "), forecastOf(x.forecast));
  if (x.plan) article.append(detailsOf("Plan of the next round", element("pre", x.plan)));
  return article;
}

function detailsOf(title, node) {
  const details = element("details");
  details.append(element("summary", title), node);
  return details;
}

function tableOf(head, rows) {
  const table = element("table");
  const tr = element("tr");
  for (const text of head) tr.append(element("th", text));
  const thead = element("thead");
  thead.append(tr);
  const body = element("tbody");
  for (const cells of rows) {
    const line = element("tr");
    cells.forEach((text, i) => {
      const cell = element("td", text, i === cells.length - 1 ? "wrap" : "");
      if (head[i]) cell.dataset.label = head[i]; // on a phone a row is a card
      line.append(cell);
    });
    body.append(line);
  }
  table.append(thead, body);
  return table;
}

const clock = (iso) => iso.slice(0, 19).replace("T", " ");

function runsOf(schedule) {
  const rows = [...(schedule.last || [])].reverse().concat(schedule.next || []).map((run) => [clock(run.at), run.outcome, run.text]);
  return tableOf(["Run (UTC)", "Outcome", "Result"], rows);
}

function forecastOf(forecast) {
  const box = element("div");
  box.append(element("p", "Assumed: " + forecast.assumption + ".", "inferred"));
  const events = forecast.events || [], some = events.length > 12 ? 10 : events.length;
  const table = (list) => tableOf(["Time (UTC)", "What happens"], list.map((e) => [clock(e.at), e.text]));
  box.append(events.length ? table(events.slice(0, some)) : element("p", "Nothing happens."));
  if (some < events.length) box.append(detailsOf(`${events.length - some} more`, table(events.slice(some))));
  return box;
}
