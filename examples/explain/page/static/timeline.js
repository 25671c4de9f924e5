// A drawing of times: lanes with bars and marks, to zoom and to read with the keyboard.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, parent) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (parent) parent.append(node);
  return node;
}

// element makes an element with a text, never with HTML.
function element(name, text, className) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
}

const steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800, 2592000];

// ticks are round times of a span, in seconds.
function ticks(from, to, most) {
  const span = (to - from) / 1000;
  const step = (steps.find((s) => span / s <= most) || 2592000) * 1000;
  const all = [];
  for (let t = Math.ceil(from / step) * step; t <= to && all.length < 200; t += step) all.push(t);
  return all;
}

function tickText(t, span) {
  const iso = new Date(t).toISOString();
  if (span > 5 * 86400e3) return iso.slice(5, 10);
  if (span > 86400e3) return iso.slice(5, 10) + " " + iso.slice(11, 16);
  return span > 20 * 60e3 ? iso.slice(11, 16) : iso.slice(11, 19);
}

// drawTimeline returns an element that shows a timeline.
function drawTimeline(timeline, title) {
  const box = element("div", undefined, "timeline");
  const tools = element("div", undefined, "tools");
  const scroll = element("div", undefined, "scroll");
  const says = element("p", "Point at a bar, or move to it with the Tab key, to see why.", "says");
  says.setAttribute("aria-live", "polite");
  let zoom = 1;
  const draw = () => {
    scroll.replaceChildren(drawLanes(timeline, title, Math.max(320, (scroll.clientWidth || 800) * zoom), says));
  };
  for (const [label, name, change] of [["−", "Zoom out", 0.5], ["+", "Zoom in", 2], ["Whole", "Show the whole time", 0]]) {
    const button = element("button", label);
    button.type = "button";
    button.setAttribute("aria-label", name);
    button.addEventListener("click", () => {
      const center = (scroll.scrollLeft + scroll.clientWidth / 2) / Math.max(scroll.scrollWidth, 1);
      zoom = change === 0 ? 1 : Math.min(64, Math.max(1, zoom * change));
      draw();
      scroll.scrollLeft = center * scroll.scrollWidth - scroll.clientWidth / 2;
    });
    tools.append(button);
  }
  if (timeline.more) tools.append(element("span", timeline.more + " more rows are not drawn", "inferred"));
  box.append(tools, scroll, says);
  new ResizeObserver(draw).observe(scroll);
  return box;
}

function drawLanes(timeline, title, width, says) {
  const from = Date.parse(timeline.from), to = Math.max(Date.parse(timeline.to), from + 1000);
  const labels = 78, row = 24, head = 4, foot = 24;
  const height = head + row * timeline.lanes.length + foot;
  const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Timeline of " + title });
  const x = (t) => labels + (width - labels - 16) * (t - from) / (to - from);
  for (const t of ticks(from, to, Math.max(2, Math.floor((width - labels) / 90)))) {
    const tick = shape("g", { class: "tick" }, svg);
    shape("line", { x1: x(t), x2: x(t), y1: head, y2: height - foot }, tick);
    const text = shape("text", { x: Math.min(Math.max(x(t), labels + 24), width - 30), y: height - 8, "text-anchor": "middle" }, tick);
    text.textContent = tickText(t, to - from);
  }
  timeline.lanes.forEach((lane, i) => drawLane(svg, lane, head + i * row, x, says));
  const now = x(Date.parse(timeline.now));
  shape("line", { class: "now", x1: now, x2: now, y1: head, y2: height - foot }, svg);
  return svg;
}

function drawLane(svg, lane, y, x, says) {
  const label = shape("text", { x: 6, y: y + 16 }, svg);
  label.textContent = lane.label.length > 10 ? lane.label.slice(0, 9) + "…" : lane.label;
  const speak = (node, text) => {
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", text);
    for (const event of ["mouseenter", "focus", "click"]) node.addEventListener(event, () => { says.textContent = text; });
  };
  for (const bar of lane.bars || []) {
    const at = x(Date.parse(bar.from));
    speak(shape("rect", { class: "k-" + bar.kind, x: at, y: y + 4, width: Math.max(x(Date.parse(bar.to)) - at, 3), height: 16, rx: 3 }, svg), bar.text);
  }
  for (const mark of lane.marks || []) {
    const at = new Date(mark.at).toISOString().slice(0, 19).replace("T", " ");
    speak(shape("circle", { class: "k-" + mark.kind, cx: x(Date.parse(mark.at)), cy: y + 12, r: 6 }, svg), at + ": " + mark.text);
  }
}
