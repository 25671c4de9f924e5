// Play: a script of steps, and the state after each of them.
"use strict";

const stage = { script: { manifest: "", steps: [] }, at: 0, from: 0, view: null, timeline: null, items: new Map(), kept: 0 };

function startPlay() {
  stage.examples = call("examples");
  stage.examples.forEach((one, i) => {
    const option = element("option", one.title);
    option.value = String(i);
    $("example").append(option);
  });
  $("example").addEventListener("change", () => openExample(Number($("example").value)));
  $("start").addEventListener("click", () => {
    stage.script = scriptOf($("manifest").value);
    go(0);
  });
  $("slider").addEventListener("input", () => go(Number($("slider").value)));
  $("back").addEventListener("click", () => go(stage.at - 1));
  $("forward").addEventListener("click", () => go(stage.at + 1));
  $("undo").addEventListener("click", undo);
  $("autoplay").addEventListener("click", () => (stage.timer ? stopPlaying() : playOn()));
  $("acts").addEventListener("click", (event) => {
    const step = event.target.dataset.step;
    if (step) take(stepOf(step));
  });
  $("apply").addEventListener("click", () => take("edit " + $("edit").value));
  $("reschedule").addEventListener("click", reschedule);
  $("set-clock").addEventListener("click", setClock);
  for (const [id, act] of [["edit", () => take("edit " + $("edit").value)], ["cron-edit", reschedule], ["clock", setClock]]) {
    $(id).addEventListener("keydown", (event) => { if (event.key === "Enter") act(); });
  }
  $("items-prev").addEventListener("click", () => go(stage.at, true, stage.view.from - 1));
  $("items-next").addEventListener("click", () => go(stage.at, true, stage.view.from + stage.view.items.length));
  $("pods").addEventListener("click", (event) => {
    const { verb, name } = event.target.dataset;
    if (verb) take(verb + " " + name + (verb === "fail" && stage.view.kind === "Job" ? " code=" + (Number($("code").value) || 1) : ""));
  });
  $("link").addEventListener("click", copyLink);
  $("story").addEventListener("click", () => exportText("story", "story.txt"));
  $("gotest").addEventListener("click", () => exportText("goTest", "situation_test.go"));
  openExample(0, true);
}

const pace = 2600; // milliseconds for each step

// playOn plays one step after another until the end.
function playOn() {
  if (stage.at === stage.script.steps.length) go(0);
  $("autoplay").textContent = "‖ Pause";
  $("autoplay").setAttribute("aria-pressed", "true");
  stage.timer = setInterval(() => {
    if (stage.at === stage.script.steps.length || $("panel-play").hidden) return stopPlaying();
    go(stage.at + 1);
  }, pace);
  runDown();
}

function stopPlaying() {
  clearInterval(stage.timer);
  stage.timer = 0;
  $("autoplay").textContent = "▶ Play";
  $("autoplay").setAttribute("aria-pressed", "false");
  runDown();
}

// runDown shows what the controller waits for. A bar shows the share of the wait that is left. It
// gets shorter while the life plays.
function runDown() {
  const wake = stage.view && stage.view.wake;
  $("play-wait").hidden = !wake;
  const waited = wake ? stage.view.waited || 0 : 0;
  const share = waited ? `; ${Math.round(100 * waited)} % of the wait has passed` : "";
  $("play-wait-text").textContent = wake ? "By itself: " + wake + share : "";
  const bar = $("play-bar"), left = `scaleX(${1 - waited})`;
  if (stage.running) stage.running.cancel();
  bar.style.transform = left;
  if (stage.timer && wake && !matchMedia("(prefers-reduced-motion: reduce)").matches) stage.running = bar.animate([{ transform: left }, { transform: "scaleX(0)" }], { duration: pace });
}

// lanes are the lanes of the board in which a pod or a Job can be.
const lanes = [["Pending", "Waits to start", "…"], ["Running", "Works", "▶"], ["Active", "Works", "▶"], ["Terminating", "Is being ended", "✕"], ["Failed", "Failed", "✗"], ["Succeeded", "Succeeded", "✓"], ["Complete", "Succeeded", "✓"]];

// showBoard puts each pod into its lane. Pods that the board already showed move to their new place.
function showBoard(view) {
  const board = $("board"), before = new Map();
  for (const node of board.querySelectorAll("[data-name]")) before.set(node.dataset.name, node.getBoundingClientRect());
  const used = lanes.filter(([phase]) => (view.kind === "Job" ? phase !== "Active" && phase !== "Complete" : ["Active", "Failed", "Complete"].includes(phase)));
  board.replaceChildren(...used.map(([phase, title, sign]) => {
    const lane = element("div", undefined, "lane lane-" + phase.toLowerCase());
    const here = view.items.filter((item) => item.phase === phase || phase === "Active" && item.phase === "Running");
    lane.append(element("h3", `${title} (${here.length})`));
    for (const item of here.slice(0, 12)) {
      const chip = element("span", sign + " " + (item.name.length > 16 ? "…" + item.name.slice(-12) : item.name), "chip");
      chip.dataset.name = item.name;
      chip.title = item.name + ": " + item.text;
      lane.append(chip);
    }
    if (here.length > 12) lane.append(element("span", `and ${here.length - 12} more`, "inferred"));
    return lane;
  }));
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const node of board.querySelectorAll("[data-name]")) {
    const was = before.get(node.dataset.name), is = node.getBoundingClientRect();
    const from = was ? `translate(${was.left - is.left}px, ${was.top - is.top}px)` : "scale(0)";
    if (!was || was.left !== is.left || was.top !== is.top) node.animate([{ transform: from }, { transform: "none" }], { duration: 600, easing: "ease-in-out" });
  }
}

function openExample(i, quietly) {
  if (stage.timer) stopPlaying();
  const one = stage.examples[i];
  stage.script = { manifest: one.manifest, steps: [...one.steps], title: one.title, notes: one.notes };
  $("manifest").value = one.manifest;
  go(0, quietly);
}

// maxScript is the maximum size in bytes of a script in a link.
const maxScript = 1e6;

async function openScript(link, step) {
  let script;
  try {
    script = JSON.parse(await fromLink(link, maxScript));
    script = { ...script, steps: [...(script.steps || [])] };
  } catch (error) {
    $("play-problem").textContent = "The link is damaged: " + error.message;
    return;
  }
  stage.script = script;
  $("manifest").value = script.manifest;
  const i = stage.examples.findIndex((one) => one.title === script.title);
  $("example").value = i < 0 ? "" : String(i);
  go(step === null ? script.steps.length : Number(step) || 0);
}

// keepScript puts the script and the step into the address, unless a newer one comes meanwhile.
async function keepScript() {
  const text = JSON.stringify(stage.script), at = stage.at, number = ++stage.kept;
  const link = await toLink(text);
  if (stage.kept === number) setFragment(`play=${link}&step=${at}`);
}

// scriptOf returns the script of a manifest, or of the steps of a story that a test kit has printed.
function scriptOf(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
  if (!/^(cron)?job {/.test(lines[0] || "")) return { manifest: text, steps: [] };
  return { manifest: lines[0], steps: lines.slice(1) };
}

// stepOf turns the buttons whose meaning depends on the state into steps.
function stepOf(name) {
  const parallelism = stage.view.parallelism;
  switch (name) {
    case "suspend": return `edit {"suspend": ${!stage.view.suspend}}`;
    case "fewer": return `edit {"parallelism": ${parallelism - 1}}`;
    case "wider": return `edit {"parallelism": ${parallelism + 1}}`;
  }
  return name;
}

// take takes a new step from the state that is shown. Unless the guide takes the same step, the
// later steps and the guide are dropped.
function take(step) {
  const before = stage.script;
  const guided = before.notes && before.steps[stage.at] === step;
  stage.script = guided ? before : { manifest: before.manifest, steps: before.steps.slice(0, stage.at).concat(step) };
  const at = stage.at;
  go(at + 1, false, stage.view.from);
  if (stage.at === at) stage.script = before; // the step was refused
}

function reschedule() { take("edit " + JSON.stringify({ schedule: $("cron-edit").value })); }

function setClock() { take("at " + $("clock").value.trim()); }

function undo() {
  if (stage.at === 0) return;
  stage.script = { manifest: stage.script.manifest, steps: stage.script.steps.slice(0, stage.at - 1) };
  go(stage.at - 1);
}

// go shows the state after n steps, with the page of its items that contains the place "from".
function go(n, quietly, from = 0) {
  n = Math.min(Math.max(n, 0), stage.script.steps.length);
  let answer;
  try {
    answer = call("play", JSON.stringify(stage.script), n, from);
  } catch (error) {
    $("play-problem").textContent = error.message;
    return;
  }
  $("play-problem").textContent = answer.problem || "";
  if (answer.problem) return;
  stage.at = n;
  stage.view = answer.view;
  showView(answer.view);
  if (!quietly) keepScript();
}

// doings has the words for what a step does to a pod or a Job.
const doings = {
  run: ["starts", "start"], succeed: ["succeeds", "succeed"], fail: ["fails", "fail"], evict: ["is evicted", "are evicted"], lose: ["loses its node", "lose their nodes"],
  restart: ["restarts", "restart"], complete: ["completes", "complete"], delete: ["is deleted", "are deleted"],
};

// wordsOf describes a step: "fail j-1 code=1" is "j-1 fails with exit code 1".
function wordsOf(step) {
  const [verb, who, code] = step.split(" "), rest = step.slice(verb.length + 1);
  if (doings[verb] && who) return `${who} ${doings[verb][who === "all" ? 1 : 0]}` + (code ? " with exit code " + code.replace("code=", "") : "");
  const texts = { next: "until the next event", tick: rest + " later", down: `the controller is down for ${rest}`, trigger: "a Job is started by hand", "delete-job": "the Job is deleted", at: "the clock is set to " + rest };
  return texts[verb] || step;
}

// sentenceOf describes what the controller does next: what comes first by the clock, as the bar
// below it shows, or else what it waits for.
function sentenceOf({ kind, next, ended, wake }) {
  if (!next || !next.length) return ended ? "It has ended: the controller does nothing more." : "The controller waits.";
  return (kind === "Job" && wake && next.find((one) => one.text.startsWith("At ")) || next[0]).text;
}

// change sets the text of a node if it differs, to avoid a new layout.
function change(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function showView(view) {
  const steps = stage.script.steps;
  $("slider").max = String(steps.length);
  $("slider").value = String(stage.at);
  const last = stage.at ? wordsOf(steps[stage.at - 1]) : "the beginning";
  $("slider").setAttribute("aria-valuetext", `step ${stage.at} of ${steps.length}: ${last}`);
  change("step", `${stage.at} of ${steps.length}: ${last}`);
  $("back").disabled = $("undo").disabled = stage.at === 0;
  $("forward").disabled = stage.at === steps.length;
  change("note", (stage.script.notes || [])[stage.at] || "");
  if ($("play-summary").textContent !== view.clock + "  " + view.summary) $("play-summary").replaceChildren(element("span", view.clock, "clock"), "  " + view.summary);
  change("play-says", sentenceOf(view));
  showBoard(view);
  runDown();
  if (stage.kind !== view.kind) showKind(view.kind);
  if (!stage.timeline) {
    stage.timeline = drawTimeline(view.timeline, "this life");
    $("play-timeline").replaceChildren(stage.timeline);
  } else {
    stage.timeline.show(view.timeline);
  }
  $("acts").querySelector('[data-step="suspend"]').textContent = view.suspend ? "Resume" : "Suspend";
  $("acts").querySelector('[data-step="next"]').disabled = !view.wake;
  $("play-findings").replaceChildren(...(view.findings || []).map(findingOf));
  $("play-next").replaceChildren(...nextOf(view));
  $("play-facts").replaceChildren(...(view.facts || []).map((fact) => element("li", fact.text)));
  change("plans", (view.plans || []).join("\n").replace(/ \([A-Z]\d+\)$/gm, "") || "the same as before");
  $("table").replaceChildren(tableOf(view.head, [view.table]));
  change("play-status", view.status);
  change("events", (view.events || []).join("\n"));
  showItems(view);
  $("export").hidden = $("export-label").hidden = true;
}

// showKind shows the controls of Jobs or of CronJobs.
function showKind(kind) {
  stage.kind = kind;
  for (const node of document.querySelectorAll("#panel-play [data-kind]")) node.hidden = node.dataset.kind !== kind;
  $("items-title").textContent = kind === "Job" ? "Pods" : "Jobs";
  $("edit").placeholder = kind === "Job" ? '{"backoffLimit": 3}' : '{"suspend": true}';
}

function nextOf(view) {
  const items = (view.next || []).map((step) => element("li", step.text));
  if (view.wake) items.push(element("li", "By itself: " + view.wake + "."));
  return items;
}

const verbs = {
  run: "Start", succeed: "Succeed", fail: "Fail", evict: "Evict", lose: "Lose the node", restart: "Restart",
  complete: "Complete", delete: "Delete",
};

// showItems shows a page of the pods or jobs. The nodes of unchanged ones stay.
function showItems(view) {
  const before = stage.items;
  stage.items = new Map();
  const nodes = view.items.map((item) => {
    const key = JSON.stringify(item);
    const node = before.get(key) || itemOf(item);
    stage.items.set(key, node);
    return node;
  });
  const list = $("pods");
  nodes.forEach((node, i) => { if (list.children[i] !== node) list.insertBefore(node, list.children[i] || null); });
  while (list.children.length > nodes.length) list.lastChild.remove();
  $("pager").hidden = view.count <= view.items.length;
  change("items-range", `${view.from + 1} to ${view.from + view.items.length} of ${view.count}`);
  $("items-prev").disabled = view.from === 0;
  $("items-next").disabled = view.from + view.items.length >= view.count;
}

function itemOf(item) {
  const li = element("li");
  li.append(element("strong", item.name), element("span", " " + item.phase + " "), element("span", item.text, "inferred"));
  const row = element("div", undefined, "row");
  for (const verb of item.actions) {
    const button = element("button", verbs[verb]);
    button.type = "button";
    button.setAttribute("aria-label", verbs[verb] + ": " + item.name);
    button.dataset.verb = verb;
    button.dataset.name = item.name;
    row.append(button);
  }
  if (item.actions.length) li.append(row);
  return li;
}

async function copyLink() {
  await keepScript();
  showExport(location.href, "Link to this state");
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.", "play");
  } catch {
    say("Copy the link from the field below.", "play");
  }
}

function exportText(name, file) {
  try {
    const { text } = call(name);
    showExport(text, file);
    const a = element("a");
    a.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    a.download = file;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 10000);
  } catch (error) {
    $("play-problem").textContent = error.message;
  }
}

function showExport(text, label) {
  $("export").value = text;
  $("export-label").textContent = label;
  $("export").hidden = $("export-label").hidden = false;
}
