// Explain: reads texts and files in pieces, and shows what the module says.
"use strict";

const pageSize = 50;
const explained = { objects: [], shown: 0, run: 0, files: [] };

function startExplain() {
  $("explain").addEventListener("click", () => explainText());
  $("file").addEventListener("change", () => { explained.files = [...$("file").files]; explainFiles(explained.files); });
  $("more").addEventListener("click", showMore);
  $("situation").addEventListener("change", () => {
    const one = situations[Number($("situation").value)];
    if ($("situation").value === "" || !one) return;
    $("input").value = one.text;
    $("at").value = one.at;
    $("ahead").value = String(one.ahead);
    explainText(one.note);
  });
  situations.forEach((one, i) => {
    const option = element("option", one.title);
    option.value = String(i);
    $("situation").append(option);
  });
  const panel = $("panel-explain");
  panel.addEventListener("dragover", (event) => { event.preventDefault(); $("input").classList.add("over"); });
  panel.addEventListener("dragleave", () => $("input").classList.remove("over"));
  panel.addEventListener("drop", (event) => {
    event.preventDefault();
    $("input").classList.remove("over");
    explainFiles([...event.dataTransfer.files]);
  });
}

function explainText(note) {
  const name = $("input").value.trimStart().startsWith("{") ? "pasted text" : "pasted text.yaml";
  return explainBlobs([{ name, blob: new Blob([$("input").value]) }], undefined, note);
}

// explainFiles reads files as they were when the newest of them was written.
function explainFiles(files) {
  const newest = files.reduce((last, file) => Math.max(last, file.lastModified), 0);
  return explainBlobs(files.map((file) => ({ name: file.name, blob: file })), newest ? new Date(newest) : undefined);
}

// timeOf reads the time that the user gives, or takes another.
function timeOf(id, otherwise) {
  const text = $(id).value.trim();
  if (!text) return otherwise;
  const t = new Date(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : text.replace(" ", "T") + "Z");
  if (Number.isNaN(t.getTime())) throw new Error(`"${text}" is not a time such as 2026-01-31T18:00:00Z`);
  return t;
}

async function explainBlobs(inputs, written, note) {
  const run = ++explained.run;
  const stale = () => run !== explained.run;
  $("problems").replaceChildren();
  $("results").replaceChildren();
  $("more").hidden = true;
  explained.objects = [];
  explained.shown = 0;
  const progress = $("progress");
  progress.hidden = false;
  progress.value = 0;
  const started = performance.now();
  try {
    const at = timeOf("at", written || new Date());
    call("reset");
    const total = inputs.reduce((sum, input) => sum + input.blob.size, 0) || 1;
    let done = 0;
    for (const input of inputs) {
      call("open", input.name);
      for (let from = 0; from < input.blob.size; from += 1 << 16) {
        const piece = new Uint8Array(await input.blob.slice(from, from + (1 << 16)).arrayBuffer());
        call("write", piece);
        done += piece.length;
        progress.value = 70 * done / total;
        say(`Reading ${Math.round(done / 1024)} of ${Math.round(total / 1024)} KB`, "explain");
        await pause();
        if (stale()) return;
      }
      call("close");
    }
    const { count } = call("begin", JSON.stringify({ at: at.toISOString(), for: Number($("ahead").value) }));
    let report;
    while (!report) {
      const some = call("some", 15);
      explained.objects.push(...some.objects);
      report = some.report;
      progress.value = 70 + 30 * explained.objects.length / (count || 1);
      showUpTo(pageSize);
      await pause();
      if (stale()) return;
    }
    finish(report, note, at, performance.now() - started);
  } catch (error) {
    $("problems").append(element("p", error.message, "error"));
    say("", "explain");
  } finally {
    if (!stale()) progress.hidden = true;
  }
}

function finish(report, note, at, took) {
  for (const problem of (report.problems || []).slice(0, 20)) {
    const place = (problem.file || "") + (problem.line ? ":" + problem.line : "");
    $("problems").append(element("p", place + ": " + problem.text, "error"));
  }
  const more = (report.problems || []).length - 20 + (report.moreProblems || 0);
  if (more > 0) $("problems").append(element("p", `and ${more} more`, "error"));
  for (const finding of report.findings || []) $("results").prepend(findingOf(finding));
  if (note) $("results").prepend(element("p", note, "note"));
  if (!explained.objects.length && !(report.problems || []).length) $("problems").append(element("p", "The input contains no Job or CronJob.", "error"));
  const bad = explained.objects.filter((x) => (x.findings || []).length).length;
  say(`${explained.objects.length} explained, ${bad} with findings, as of ${at.toISOString().slice(0, 19).replace("T", " ")} UTC. All times are UTC.`, "explain");
  document.documentElement.dataset.explained = String(Math.round(took));
  // What is wrong comes first when there is more than one page.
  if (explained.objects.length > pageSize) {
    explained.objects.sort((a, b) => (b.findings || []).length - (a.findings || []).length);
    $("results").querySelectorAll("article").forEach((node) => node.remove());
    explained.shown = 0;
    showUpTo(pageSize);
  }
  $("more").hidden = explained.shown >= explained.objects.length;
}

function showMore() { showUpTo(explained.shown + pageSize); }

function showUpTo(n) {
  const next = explained.objects.slice(explained.shown, n);
  explained.shown += next.length;
  for (const one of next) $("results").append(articleOf(one));
  $("more").hidden = explained.shown >= explained.objects.length;
}

function colourOf(state) {
  if (["complete", "running", "scheduled"].includes(state)) return "good";
  return ["failed", "broken"].includes(state) ? "error" : "warning";
}

function withInferred(node, inferred) {
  if (inferred) node.append(element("span", " inferred", "inferred"));
  return node;
}

function findingOf(finding) {
  const p = element("p", undefined, "finding " + finding.severity);
  p.append(element("strong", finding.severity + " " + finding.code + ": "), finding.text);
  return withInferred(p, finding.inferred);
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
  return tableOf(["Run (UTC)", "", "What became of it"], rows);
}

function forecastOf(forecast) {
  const box = element("div");
  box.append(element("p", "Assumed: " + forecast.assumption + ".", "inferred"));
  const events = forecast.events || [];
  box.append(events.length ? tableOf(["Time (UTC)", "What happens"], events.map((e) => [clock(e.at), e.text])) : element("p", "Nothing happens."));
  return box;
}
