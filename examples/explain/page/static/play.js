// Play: a script of steps, and the state after each of them.
"use strict";

const stage = { script: { manifest: "", steps: [] }, at: 0, view: null };

function startPlay() {
  stage.examples = call("examples");
  stage.examples.forEach((one, i) => {
    const option = element("option", one.title);
    option.value = String(i);
    $("example").append(option);
  });
  $("example").addEventListener("change", () => openExample(Number($("example").value)));
  $("start").addEventListener("click", () => {
    stage.script = { manifest: $("manifest").value, steps: [] };
    go(0);
  });
  $("slider").addEventListener("input", () => go(Number($("slider").value)));
  $("back").addEventListener("click", () => go(stage.at - 1));
  $("forward").addEventListener("click", () => go(stage.at + 1));
  $("undo").addEventListener("click", undo);
  $("acts").addEventListener("click", (event) => {
    const step = event.target.dataset.step;
    if (step) take(stepOf(step));
  });
  $("apply").addEventListener("click", () => take("edit " + $("edit").value));
  $("edit").addEventListener("keydown", (event) => { if (event.key === "Enter") take("edit " + $("edit").value); });
  $("link").addEventListener("click", copyLink);
  $("story").addEventListener("click", () => exportText("story", "story.txt"));
  $("gotest").addEventListener("click", () => exportText("goTest", "situation_test.go"));
  openExample(0, true);
}

function openExample(i, quietly) {
  const one = stage.examples[i];
  stage.script = { manifest: one.manifest, steps: [...one.steps], title: one.title, notes: one.notes };
  $("manifest").value = one.manifest;
  go(0, quietly);
}

function openScript(text, step) {
  try {
    stage.script = call("decode", text);
    stage.script.steps = stage.script.steps || [];
    $("manifest").value = stage.script.manifest;
    const i = stage.examples.findIndex((one) => one.title === stage.script.title);
    $("example").value = i < 0 ? "" : String(i);
    go(step === null ? stage.script.steps.length : Number(step) || 0);
  } catch (error) {
    $("play-problem").textContent = error.message;
  }
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

// take takes a new step from the state that is shown. The steps after it are given up, and
// with them the guide.
function take(step) {
  const before = stage.script;
  const guided = before.notes && before.steps[stage.at] === step;
  stage.script = guided ? before : { manifest: before.manifest, steps: before.steps.slice(0, stage.at).concat(step) };
  const at = stage.at;
  go(at + 1);
  if (stage.at === at) stage.script = before; // the step was refused
}

function undo() {
  if (stage.at === 0) return;
  stage.script = { manifest: stage.script.manifest, steps: stage.script.steps.slice(0, stage.at - 1) };
  go(stage.at - 1);
}

function go(n, quietly) {
  n = Math.min(Math.max(n, 0), stage.script.steps.length);
  const before = performance.now();
  let answer;
  try {
    answer = call("play", JSON.stringify(stage.script), n);
  } catch (error) {
    $("play-problem").textContent = error.message;
    return;
  }
  $("play-problem").textContent = answer.problem || "";
  if (answer.problem) return;
  stage.at = n;
  stage.view = answer.view;
  showView(answer.view);
  document.documentElement.dataset.step = (performance.now() - before).toFixed(1);
  if (!quietly) setFragment("play=" + call("encode", JSON.stringify(stage.script)).text + "&step=" + n);
}

function showView(view) {
  const steps = stage.script.steps;
  $("slider").max = String(steps.length);
  $("slider").value = String(stage.at);
  const last = stage.at ? steps[stage.at - 1] : "the beginning";
  $("slider").setAttribute("aria-valuetext", `step ${stage.at} of ${steps.length}: ${last}`);
  $("step").textContent = `${stage.at} of ${steps.length}: ${last}`;
  $("back").disabled = $("undo").disabled = stage.at === 0;
  $("forward").disabled = stage.at === steps.length;
  $("note").textContent = (stage.script.notes || [])[stage.at] || "";
  $("play-summary").textContent = view.clock + "  " + view.summary;
  $("play-timeline").replaceChildren(drawTimeline(view.timeline, "the Job"));
  $("acts").querySelector('[data-step="suspend"]').textContent = view.suspend ? "Resume" : "Suspend";
  $("acts").querySelector('[data-step="next"]').disabled = !view.wake;
  $("play-next").replaceChildren(...nextOf(view));
  $("play-facts").replaceChildren(...(view.facts || []).map((fact) => element("li", fact.text)));
  $("plans").textContent = (view.plans || []).join("\n") || "the plan has not changed";
  $("table").querySelector("tbody tr").replaceChildren(...view.table.map((text) => element("td", text)));
  $("play-status").textContent = view.status;
  $("events").textContent = (view.events || []).join("\n");
  $("pods").replaceChildren(...(view.pods || []).map(podOf));
  if (view.morePods) $("pods").append(element("li", `and ${view.morePods} more`));
  $("export").hidden = $("export-label").hidden = true;
}

function nextOf(view) {
  const items = (view.next || []).map((step) => element("li", step.text));
  if (view.wake) items.push(element("li", "By itself: " + view.wake + "."));
  return items;
}

const verbs = { run: "Start", succeed: "Succeed", fail: "Fail", evict: "Evict", lose: "Lose the node", restart: "Restart" };

function podOf(pod) {
  const li = element("li");
  li.append(element("strong", pod.name), element("span", " " + pod.phase + " "), element("span", pod.text, "inferred"));
  const row = element("div", undefined, "row");
  for (const verb of pod.actions) {
    const button = element("button", verbs[verb]);
    button.type = "button";
    button.setAttribute("aria-label", verbs[verb] + ": " + pod.name);
    button.addEventListener("click", () => take(verb + " " + pod.name + (verb === "fail" ? " code=" + (Number($("code").value) || 1) : "")));
    row.append(button);
  }
  if (pod.actions.length) li.append(row);
  return li;
}

async function copyLink() {
  setFragment("play=" + call("encode", JSON.stringify(stage.script)).text + "&step=" + stage.at);
  showExport(location.href, "Link to this state");
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.");
  } catch {
    say("Copy the link from the field below.");
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
