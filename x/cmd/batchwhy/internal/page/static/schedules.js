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
  let waiting;
  for (const id of ["cron", "zone", "deadline", "from"]) {
    $(id).addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => showSchedule(), 150);
      if (id === "cron") showFields();
      $(id).removeAttribute("aria-invalid");
    });
  }
  for (const event of ["keyup", "click", "focus"]) $("cron").addEventListener(event, () => { if (!$("schedule-problem").textContent) showFields(); });
  let width = document.documentElement.clientWidth;
  addEventListener("resize", () => { // the drawings fit the window
    if (width === document.documentElement.clientWidth) return;
    width = document.documentElement.clientWidth;
    if ($("calendar").children.length) showSchedule(true);
  });
  showSchedule(true);
}

const fieldNames = ["minute", "hour", "day of month", "month", "day of week"];
const fieldRanges = ["0-59", "0-23", "1-31", "1-12 or JAN-DEC", "0-6 or SUN-SAT"];

const fieldWords = ["at", "at", "on day", "in", "on"], fieldUnits = ["minute", "hour", "day", "month", "day"];
const monthNames = "January February March April May June July August September October November December".split(" ");
const dayNames = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

// wordOf is a value of a field in words: MON and 1 are Monday.
function wordOf(value, i) {
  const names = [, , , [, ...monthNames], dayNames][i];
  if (!names) return value;
  return names[Number(value)] || names.find((name) => name && name.slice(0, 3).toUpperCase() === value.toUpperCase()) || value;
}

// meaningOf describes what one field means by itself.
function meaningOf(text, i) {
  const unit = fieldUnits[i];
  if (text === "*" || text === "?") return i === 4 ? "any day of the week" : "every " + unit;
  const parts = text.split(",").map((part) => {
    const [range, step] = part.split("/"), words = range.split("-").map((value) => wordOf(value, i)).join(" to ");
    if (!step) return range.includes("-") ? words : `${fieldWords[i]} ${words}`;
    return `every ${step} ${unit}s` + (range === "*" ? "" : " from " + words);
  });
  return parts.join(" and ");
}

// showProblem shows an error beside what it is about: a field of the schedule, or an input.
function showProblem(error) {
  const [, about = "", why = error.message] = /^schedule .*?": ([a-z-]+) ".*?": (.*)$/.exec(error.message) || [];
  const place = fieldNames.indexOf(about.replaceAll("-", " "));
  const id = about === "zone" ? "zone" : error.input || "cron";
  $(id).setAttribute("aria-invalid", "true");
  if (id === "cron") {
    $("schedule-problem").textContent = error.message;
  } else {
    $(id).closest(".field").append($("field-problem"));
    $("field-problem").textContent = error.message.replace(/^schedule ".*?": /, "");
  }
  const field = $("fields").children[place];
  if (!field) return;
  field.classList.add("wrong");
  field.children[2].textContent = why;
}

// showFields shows the fields of the schedule, with the one under the cursor lit.
function showFields() {
  const text = $("cron").value, at = $("cron").selectionStart;
  const list = $("fields");
  if (text.trim().startsWith("@")) {
    list.replaceChildren();
    return;
  }
  const found = [...text.matchAll(/\S+/g)];
  const focused = document.activeElement === $("cron");
  list.replaceChildren(...fieldNames.map((name, i) => {
    const field = found[i];
    const item = element("li");
    const lit = focused && field && at >= field.index && at <= field.index + field[0].length;
    if (lit) item.className = "lit";
    item.append(element("code", field ? field[0] : "…"), element("strong", name), element("span", field ? meaningOf(field[0], i) : "missing"), element("span", fieldRanges[i], "risk"));
    return item;
  }));
}

// drawYear draws the days of a year, a column for each week: the more runs, the fuller. A day on
// which the clock changes has a ring, a broken one if an hour is missing.
function drawYear(found) {
  const room = Math.min($("main").clientWidth || Infinity, document.documentElement.clientWidth) - 70;
  const most = Math.max(1, ...found.days), cell = Math.max(13, Math.min(18, Math.floor(room / 54))), first = new Date(found.day + "T00:00:00Z");
  const before = (first.getUTCDay() + 6) % 7; // Monday is the first row
  const weeks = Math.ceil((before + found.days.length) / 7);
  const perBand = Math.min(weeks, Math.max(10, Math.floor(room / cell))); // a phone has several bands
  const band = 7 * cell + 26, width = 36 + perBand * cell, height = band * Math.ceil(weeks / perBand);
  const changes = new Map(found.shifts.map((s) => [s.text.slice(0, 10), s]));
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "year", role: "img", "aria-label": `Runs on each day of the year from ${found.day}: at most ${most} a day, on ${found.days.filter((n) => n).length} days` });
  const label = (x, y, text) => { shape("text", { x, y, class: "tiny" }, svg).textContent = text; };
  for (let top = 0; top < height; top += band) ["Mon", "Wed", "Fri", "Sun"].forEach((name, i) => label(0, top + 16 + cell + 2 * i * cell, name));
  let month = -1, labelled = -9;
  found.days.forEach((n, i) => {
    const day = new Date(first.getTime() + i * 86400e3), place = before + i, week = Math.floor(place / 7);
    const top = band * Math.floor(week / perBand), x = 32 + (week % perBand) * cell, y = top + 18 + (place % 7) * cell;
    if (day.getUTCMonth() !== month && place % 7 === 0) {
      month = day.getUTCMonth();
      if (week - labelled > 2 && week % perBand < perBand - 2) {
        labelled = week;
        label(x, top + 12, day.toLocaleString("en", { month: "short", timeZone: "UTC" }));
      }
    }
    const iso = day.toISOString().slice(0, 10), change = changes.get(iso);
    const box = shape("rect", { x, y, width: cell - 2, height: cell - 2, rx: 2, class: n ? "k-running" : "k-none", "fill-opacity": n ? 0.35 + 0.65 * n / most : 1 }, svg);
    if (change) shape("circle", { cx: x + cell / 2 - 1, cy: y + cell / 2 - 1, r: cell / 2 + 2, class: change.gap ? "ring gap" : "ring" }, svg);
    shape("title", {}, box).textContent = `${iso}: ${n} run${n === 1 ? "" : "s"}${change ? "; " + change.text : ""}`;
  });
  return svg;
}

// yearLegend explains the signs of the year's picture.
function yearLegend() {
  const legend = element("p", undefined, "legend");
  for (const [kind, text] of [["k-running", "runs (the fuller, the more)"], ["k-none", "no run"], ["ring gap", "clocks go forward: an hour is missing"], ["ring", "clocks go back: an hour comes twice"]]) {
    const entry = element("span", undefined, "entry"), swatch = shape("svg", { width: 18, height: 18, "aria-hidden": "true" });
    if (kind.startsWith("ring")) shape("circle", { class: kind, cx: 9, cy: 9, r: 7 }, swatch);
    else shape("rect", { class: kind, x: 2, y: 2, width: 14, height: 14, rx: 2 }, swatch);
    entry.append(swatch, " " + text);
    legend.append(entry);
  }
  return legend;
}

function openSchedule(params) {
  $("cron").value = params.get("schedule");
  $("zone").value = params.get("zone") || "";
  $("deadline").value = params.get("deadline") || "";
  $("from").value = params.get("from") || "";
  showSchedule(true);
}

function showSchedule(quietly) {
  $("schedule-problem").textContent = $("field-problem").textContent = "";
  for (const id of ["cron", "zone", "from"]) $(id).removeAttribute("aria-invalid");
  showFields();
  try {
    const from = timeOf("from", new Date());
    const deadline = $("deadline").value === "" ? -1 : Number($("deadline").value);
    const found = call("schedule", $("cron").value, $("zone").value, deadline, from.toISOString().slice(0, 19) + "Z");
    $("sentence").textContent = runs(found.sentence) + " (" + found.zone + ").";
    $("calendar").replaceChildren(...calendarOf(found));
    say(statusOf(found), "schedules");
  } catch (error) {
    showProblem(error);
    $("sentence").textContent = "";
    $("calendar").replaceChildren();
    say("No schedule is shown.", "schedules");
    return;
  }
  if (quietly) return;
  const params = new URLSearchParams({ schedule: $("cron").value, zone: $("zone").value });
  for (const id of ["deadline", "from"]) if ($(id).value) params.set(id, $(id).value);
  setFragment(params.toString());
}

// statusOf returns the status line: the next run, and the numbers of findings, changes and differences.
function statusOf(found) {
  const next = found.runs.length ? `The next run is ${found.runs[0].in}, ${found.runs[0].local}.` : "There is no next run.";
  const n = found.findings.length;
  return `${next} ${n || "No"} finding${n === 1 ? "" : "s"}, ${found.shifts.length} changes of the clock in three years, ${found.differences.length || "no"} differences from Kubernetes 1.37.`;
}

// runs is the sentence of a schedule with its verb, such as "Never runs (no such date)".
function runs(sentence) {
  return sentence.startsWith("never") ? "Never runs" + sentence.slice("never".length) : "Runs " + sentence;
}

function calendarOf(found) {
  const nodes = [element("h2", "The year"), drawYear(found), yearLegend()];
  nodes.push(element("p", `${found.perYear} runs in the year from ${clock(found.from)} UTC.`, "inferred"));
  for (const finding of found.findings) nodes.push(findingOf({ severity: "warning", code: finding.kind, text: finding.text }));
  nodes.push(element("h2", "Next runs"));
  nodes.push(found.runs.length ? tableOf(["In the zone", "UTC", "From now"], found.runs.map((r) => [r.local, r.utc, r.in])) : element("p", "There is no next run."));
  nodes.push(element("h2", "Changes of the clock in the next three years"));
  if (!found.shifts.length) nodes.push(element("p", "The clock of this zone does not change."));
  const shifts = element("div", undefined, "shifts");
  for (const shift of found.shifts) {
    const one = element("div");
    one.append(element("p", shift.text), drawShift(shift));
    shifts.append(one);
  }
  nodes.push(shifts);
  nodes.push(element("h2", "Kubernetes 1.37"));
  if (!found.differences.length) nodes.push(element("p", "Kubernetes 1.37 finds the same runs in the next year."));
  else nodes.push(tableOf(["This schedule", "Kubernetes 1.37"], found.differences.map((d) => [d.ours, d.theirs])));
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
