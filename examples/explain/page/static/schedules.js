// Schedules: the times of a schedule, drawn around the changes of the zone's clock.
"use strict";

function startSchedules() {
  for (const zone of (Intl.supportedValuesOf ? Intl.supportedValuesOf("timeZone") : ["UTC", "Europe/Berlin", "America/New_York"])) {
    const option = element("option");
    option.value = zone;
    $("zones").append(option);
  }
  $("look").addEventListener("click", () => showSchedule());
  for (const id of ["cron", "zone", "deadline", "from"]) {
    $(id).addEventListener("keydown", (event) => { if (event.key === "Enter") showSchedule(); });
  }
  showSchedule(true);
}

function openSchedule(params) {
  $("cron").value = params.get("schedule");
  $("zone").value = params.get("zone") || "";
  $("deadline").value = params.get("deadline") || "";
  $("from").value = params.get("from") || "";
  showSchedule(true);
}

function showSchedule(quietly) {
  $("schedule-problem").textContent = "";
  $("calendar").replaceChildren();
  try {
    const from = timeOf("from", new Date());
    const deadline = $("deadline").value === "" ? -1 : Number($("deadline").value);
    const found = call("schedule", $("cron").value, $("zone").value, deadline, from.toISOString().slice(0, 19) + "Z");
    $("calendar").append(...calendarOf(found));
    say(statusOf(found), "schedules");
  } catch (error) {
    $("schedule-problem").textContent = error.message;
    say("No schedule is shown.", "schedules");
    return;
  }
  if (quietly) return;
  const params = new URLSearchParams({ schedule: $("cron").value, zone: $("zone").value });
  for (const id of ["deadline", "from"]) if ($(id).value) params.set(id, $(id).value);
  setFragment(params.toString());
}

// statusOf is the status line: the next run, and how much there is to see.
function statusOf(found) {
  const next = found.runs.length ? `The next run is ${found.runs[0].in}, ${found.runs[0].local}.` : "There is no next run.";
  const n = found.findings.length;
  return `${next} ${n || "No"} finding${n === 1 ? "" : "s"}, ${found.shifts.length} changes of the clock in three years, ${found.differences.length || "no"} differences from Kubernetes 1.36.`;
}

function calendarOf(found) {
  const nodes = [element("h2", "Runs " + found.sentence + " (" + found.zone + ")")];
  nodes.push(element("p", `${found.perYear} runs in the year from ${clock(found.from)} UTC.`));
  for (const finding of found.findings) nodes.push(findingOf({ severity: "warning", code: finding.kind, text: finding.text }));
  nodes.push(element("h3", "Next runs"));
  nodes.push(found.runs.length ? tableOf(["In the zone", "UTC", ""], found.runs.map((r) => [r.local, r.utc, r.in])) : element("p", "There is no next run."));
  nodes.push(element("h3", "Changes of the clock in the next three years"));
  if (!found.shifts.length) nodes.push(element("p", "The clock of this zone does not change."));
  for (const shift of found.shifts) nodes.push(element("p", shift.text), drawShift(shift));
  nodes.push(element("h3", "Kubernetes 1.36"));
  if (!found.differences.length) nodes.push(element("p", "Kubernetes 1.36 finds the same runs in the next year."));
  else nodes.push(tableOf(["This schedule", "Kubernetes 1.36"], found.differences.map((d) => [d.ours, d.theirs])));
  return nodes;
}

// drawShift draws the hours around a change: real time runs from left to right, with the
// gap or the repeated span of the clock.
function drawShift(shift) {
  const width = Math.min(640, document.documentElement.clientWidth - 32), mid = width / 2, minute = width / 360;
  const svg = shape("svg", { viewBox: `0 0 ${width} 64`, width, height: 64, role: "img", "aria-label": shift.text });
  shape("line", { x1: 0, x2: width, y1: 32, y2: 32, stroke: "currentColor", "stroke-opacity": 0.4 }, svg);
  const jump = Math.abs(shift.minutes) * minute;
  if (shift.gap) {
    shape("rect", { class: "k-failed", x: mid - 2, y: 18, width: 4, height: 28 }, svg);
  } else {
    shape("rect", { class: "k-backoff", x: mid - jump, y: 22, width: jump * 2, height: 20, "fill-opacity": 0.35 }, svg);
    shape("rect", { class: "k-failed", x: mid - 1, y: 18, width: 2, height: 28 }, svg);
  }
  for (const at of shift.runs) shape("circle", { class: "k-running", cx: mid + at * minute, cy: 32, r: shift.runs.length > 60 ? 2 : 6 }, svg);
  const text = (x, y, words, anchor) => { shape("text", { x, y, "text-anchor": anchor }, svg).textContent = words; };
  text(mid - 6, 14, shift.before, "end");
  text(mid + 6, 14, shift.after, "start");
  text(4, 60, "3 hours before", "start");
  text(width - 4, 60, "3 hours after", "end");
  text(mid, 60, shift.gap ? "skipped" : "comes twice", "middle");
  return svg;
}
