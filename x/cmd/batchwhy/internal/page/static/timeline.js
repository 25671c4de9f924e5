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

const maxZoom = 64;

// drawTimeline returns an element that shows a timeline. Its function "show" shows another
// one in its place, and keeps the zoom.
function drawTimeline(timeline, title) {
  const box = element("div", undefined, "timeline");
  const tools = element("div", undefined, "tools");
  const scroll = element("div", undefined, "scroll");
  const more = element("span", undefined, "inferred");
  const says = element("p", "Point at a bar, tap it, or press Tab, to see why. Zoom with + and −, or Ctrl and the wheel.", "says");
  says.setAttribute("aria-live", "polite");
  let zoom = 1, width = 0;
  const draw = () => {
    if (width) scroll.replaceChildren(drawLanes(timeline, title, Math.max(240, Math.floor(width * zoom))));
  };
  // zoomTo zooms. What is at the given place of the window stays there.
  const zoomTo = (wanted, place) => {
    wanted = Math.min(maxZoom, Math.max(1, wanted));
    if (wanted === zoom) return;
    const at = (scroll.scrollLeft + place) / Math.max(scroll.scrollWidth, 1);
    zoom = wanted;
    draw();
    scroll.scrollLeft = at * scroll.scrollWidth - place;
  };
  const middle = () => scroll.clientWidth / 2;
  const legend = element("p", undefined, "legend");
  tools.append(legend);
  for (const [label, name, change] of [["−", "Zoom out", 0.5], ["+", "Zoom in", 2], ["Whole", "Show the whole time", 0]]) {
    const button = element("button", label);
    button.type = "button";
    button.setAttribute("aria-label", name);
    button.addEventListener("click", () => zoomTo(zoom * change, middle()));
    tools.append(button);
  }
  box.addEventListener("keydown", (event) => {
    const change = { "+": 2, "=": 2, "-": 0.5, "−": 0.5, 0: 0 }[event.key];
    if (change === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const name = event.target.getAttribute && event.target.getAttribute("aria-label");
    zoomTo(zoom * change, middle());
    // Drawing makes new bars: the focus moves to the one with the same label.
    const same = [...scroll.querySelectorAll("[tabindex]")].find((node) => node.getAttribute("aria-label") === name);
    if (same) same.focus({ preventScroll: true });
  });
  // The wheel alone scrolls the page. With Ctrl it zooms, as does a pinch on a touchpad.
  scroll.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomTo(zoom * (event.deltaY < 0 ? 1.25 : 0.8), event.clientX - scroll.getBoundingClientRect().left);
  }, { passive: false });
  for (const event of ["mouseover", "focusin", "click"]) {
    scroll.addEventListener(event, ({ target }) => {
      if (target.hasAttribute("tabindex")) says.textContent = target.getAttribute("aria-label");
    });
  }
  const showLegend = () => legend.replaceChildren(...legendOf(timeline));
  const showMore = () => { more.textContent = timeline.more ? timeline.more + " more are not drawn" : ""; };
  box.show = (other) => { timeline = other; showMore(); showLegend(); draw(); };
  showMore();
  showLegend();
  legend.after(more);
  box.append(scroll, tools, says);
  new ResizeObserver(() => {
    if (scroll.clientWidth === width) return;
    width = scroll.clientWidth;
    draw();
  }).observe(scroll);
  return box;
}

// signs show without colours what a bar or a mark is.
const signs = {
  pending: "…", running: "▶", succeeded: "✓", failed: "✗", ignored: "○", terminating: "✕", backoff: "B", suspended: "‖", job: "Job", complete: "✓", future: "?",
  deadline: "!", run: "R", started: "S", missed: "M", end: "E", expiry: "T", retry: "↻",
};
const signMeanings = {
  pending: "pending", running: "running", succeeded: "succeeded", failed: "failed", ignored: "ignored failure", terminating: "terminating", backoff: "backoff", suspended: "suspended",
  job: "the Job", complete: "complete", future: "forecast", deadline: "deadline", run: "run to come", started: "run started", missed: "run missed", end: "end", expiry: "deleted by its TTL", retry: "retry",
};

// legendOf explains the signs that a timeline has.
function legendOf(timeline) {
  const kinds = new Set(timeline.lanes.flatMap((lane) => [...(lane.bars || []), ...(lane.marks || [])].map((x) => x.kind)));
  const entries = Object.keys(signs).filter((kind) => kinds.has(kind)).map((kind) => {
    const entry = element("span", undefined, "entry");
    const swatch = shape("svg", { width: 22, height: 16, "aria-hidden": "true" });
    shape("rect", { class: "k-" + kind, width: 22, height: 16, rx: 3 }, swatch);
    shape("text", { class: "sign s-" + kind, x: 11, y: 12, "text-anchor": "middle" }, swatch).textContent = signs[kind];
    entry.append(swatch, " " + signMeanings[kind]);
    return entry;
  });
  const line = shape("svg", { width: 12, height: 16, "aria-hidden": "true" });
  shape("line", { class: "now", x1: 6, x2: 6, y1: 0, y2: 16 }, line);
  const now = element("span", undefined, "entry");
  now.append(line, " now");
  return [...entries, now];
}

// endOf is where a drawing ends: a little after the last thing that it shows, however far the
// timeline looks ahead.
function endOf(timeline, from) {
  const times = timeline.lanes.flatMap((lane) => [...(lane.bars || []).map((bar) => bar.to), ...(lane.marks || []).map((mark) => mark.at)]);
  const last = times.reduce((latest, t) => Math.max(latest, Date.parse(t)), Date.parse(timeline.now));
  return Math.max(from + 10e3, Math.min(Date.parse(timeline.to), last + 0.05 * (last - from)));
}

// labelOf is the label of a lane, unless the lane above has the same.
function labelOf(lanes, i) {
  const { label } = lanes[i];
  if (i && lanes[i - 1].label === label) return "";
  return label.length > 10 ? label.slice(0, 9) + "…" : label;
}

function drawLanes(timeline, title, width) {
  const from = Date.parse(timeline.from), to = endOf(timeline, from);
  const labels = 78, right = 38, row = 24, head = 4, foot = 24;
  const lanes = timeline.lanes.filter((lane) => (lane.bars || []).length + (lane.marks || []).length);
  const height = head + row * lanes.length + foot;
  const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Timeline of " + title });
  const x = (t) => labels + (width - labels - right) * (t - from) / (to - from);
  for (const t of ticks(from, to, Math.max(2, Math.floor((width - labels) / 90)))) {
    const tick = shape("g", { class: "tick" }, svg);
    shape("line", { x1: x(t), x2: x(t), y1: head, y2: height - foot }, tick);
    const text = shape("text", { x: x(t), y: height - 8, "text-anchor": "middle" }, tick);
    text.textContent = tickText(t, to - from);
  }
  lanes.forEach((lane, i) => drawLane(svg, lane, labelOf(lanes, i), head + i * row, x));
  const now = x(Date.parse(timeline.now));
  shape("line", { class: "now", x1: now, x2: now, y1: head, y2: height - foot }, svg);
  return svg;
}

function drawLane(svg, lane, label, y, x) {
  shape("text", { x: 6, y: y + 16 }, svg).textContent = label;
  const speaks = (text) => ({ tabindex: 0, role: "img", "aria-label": text });
  for (const bar of lane.bars || []) {
    const at = x(Date.parse(bar.from));
    shape("rect", { class: "k-" + bar.kind, x: at, y: y + 4, width: Math.max(x(Date.parse(bar.to)) - at, 3), height: 16, rx: 3, ...speaks(bar.text) }, svg);
    const wide = x(Date.parse(bar.to)) - at;
    if (wide > 16 && signs[bar.kind]) shape("text", { class: "sign s-" + bar.kind, x: at + Math.min(wide / 2, 14), y: y + 16, "text-anchor": "middle", "aria-hidden": "true" }, svg).textContent = signs[bar.kind];
  }
  for (const mark of lane.marks || []) {
    const at = new Date(mark.at).toISOString().slice(0, 19).replace("T", " ");
    shape("circle", { class: "k-" + mark.kind, cx: x(Date.parse(mark.at)), cy: y + 12, r: 7, ...speaks(at + ": " + mark.text) }, svg);
  }
  // Signs lie above all circles. Those that would overlap are left out.
  let signed = -Infinity;
  for (const mark of lane.marks || []) {
    const place = x(Date.parse(mark.at));
    if (place - signed < 12) continue;
    signed = place;
    shape("text", { class: "sign s-" + mark.kind, x: place, y: y + 16, "text-anchor": "middle", "aria-hidden": "true" }, svg).textContent = signs[mark.kind] || "";
  }
}
