"use strict";

const PRINTED = 680; // pixels: the width of a page of A4 or letter paper
const LONG = 20; // rows of a table from which on it can be searched, folded and copied
const FOLDED = 12; // rows of a folded table

async function library() {
  const packed = Uint8Array.from(atob(document.getElementById("library").textContent), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(unpacked).text();
  document.head.append(script);
}

async function plots() {
  const places = [...document.querySelectorAll("script[data-plot]")];
  await library();
  const touched = matchMedia("(pointer: coarse)").matches; // a finger on a plot scrolls the page
  for (const place of places) {
    const figure = JSON.parse(place.textContent);
    const plot = document.getElementById(place.dataset.plot);
    figure.layout.dragmode = touched ? false : "zoom";
    plot.replaceChildren();
    await Plotly.newPlot(plot, figure.data, figure.layout, { responsive: true, displayModeBar: false });
  }
  const resize = (layout) => document.querySelectorAll(".plot").forEach((plot) => Plotly.relayout(plot, layout));
  addEventListener("beforeprint", () => resize({ autosize: false, width: PRINTED }));
  addEventListener("afterprint", () => resize({ autosize: true, width: null }));
}

function sortable(table) {
  const body = table.tBodies[0];
  const key = (row, k) => row.cells[k].dataset.sort ?? row.cells[k].textContent;
  const order = (a, b) => (isNaN(a) || isNaN(b) ? a.localeCompare(b, undefined, { numeric: true }) : a - b);
  const heads = [...table.tHead.rows[0].cells];
  const sort = (head) => {
    const k = heads.indexOf(head);
    const down = head.ariaSort === "ascending";
    const rows = [...body.rows].sort((a, b) => (down ? -1 : 1) * order(key(a, k), key(b, k)));
    body.append(...rows);
    for (const other of heads) other.removeAttribute("aria-sort");
    head.ariaSort = down ? "descending" : "ascending";
    table.dispatchEvent(new Event("sorted"));
  };
  table.classList.add("sorts");
  for (const head of heads) {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(head));
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort(head));
  }
}

// Long tables: search, copy as tab-separated text, and fold all but the first rows.
function foldable(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < LONG) return;
  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const tools = Object.assign(document.createElement("div"), { className: "tools" });
  const search = Object.assign(document.createElement("input"), { type: "search", placeholder: "search " + rows.length + " rows" });
  search.setAttribute("aria-label", "search the rows of this table");
  const fold = Object.assign(make("button", ""), { type: "button" });
  const copy = Object.assign(make("button", "copy"), { type: "button" });
  let folded = true;
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      const matches = words.every((word) => text.includes(word));
      row.hidden = !matches || (folded && !words.length && shown >= FOLDED);
      shown += matches;
    }
    fold.textContent = folded ? "show all " + rows.length + " rows" : "show fewer";
    fold.hidden = words.length > 0;
  };
  search.addEventListener("input", show);
  fold.addEventListener("click", () => { folded = !folded; show(); });
  copy.addEventListener("click", async () => {
    const cells = (row) => [...row.cells].map((cell) => cell.textContent.replace(/\s+/g, " ").trim()).join("\t");
    const lines = [table.tHead.rows[0], ...table.tBodies[0].rows].filter((row) => folded && !search.value ? true : !row.hidden);
    copy.textContent = await copyText(lines.map(cells).join("\n")) ? "copied" : "cannot copy";
    setTimeout(() => { copy.textContent = "copy"; }, 1500);
  });
  tools.append(search, fold, copy);
  table.closest(".table").before(tools);
  table.addEventListener("sorted", show);
  show();
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy"); // in pages that are opened as files
    area.remove();
    return done;
  }
}

// A robot and its ellipsoids in parallel projection: that of {c + A u, |u| <= 1} is the ellipse of P A Aᵀ Pᵀ.
function drawing(place) {
  const figure = document.getElementById(place.dataset.drawing);
  const data = JSON.parse(place.textContent);
  const svg = figure.querySelector("svg");
  const home = [-0.7, 0.45]; // azimuth and elevation in radians
  let view = [...home];
  const solids = ["before", "after"].flatMap((kind) => data[kind].map((solid) => ({ ...solid, kind })));
  const width = 640, height = 420, margin = 20; // of the frame
  const dot = (p, q) => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
  const apply = (m, p) => m.map((row) => dot(row, p));
  // The range of all lines and ellipsoids along a unit vector, shown or not, so that a checkbox changes no scale.
  const range = (axis) => {
    const places = data.lines.flat().map((p) => [dot(p, axis), 0]);
    for (const solid of solids) places.push([dot(solid.center, axis), Math.sqrt(dot(axis, apply(solid.matrix, axis)))]);
    return [Math.min(...places.map(([x, r]) => x - r)), Math.max(...places.map(([x, r]) => x + r))];
  };
  const extent = ([low, high]) => Math.max(high - low, 1e-6);
  const size = Math.hypot(...[[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis) => extent(range(axis))));
  const node = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const draw = () => {
    const [a, e] = view;
    const right = [Math.cos(a), Math.sin(a), 0];
    const front = [Math.sin(a) * Math.cos(e), -Math.cos(a) * Math.cos(e), Math.sin(e)];
    const up = [
      front[1] * right[2] - front[2] * right[1],
      front[2] * right[0] - front[0] * right[2],
      front[0] * right[1] - front[1] * right[0],
    ];
    const across = range(right), along = range(up); // the robot fills the frame in every view
    const scale = Math.min((width - 2 * margin) / extent(across), (height - 2 * margin) / extent(along));
    const center = ([low, high]) => (low + high) / 2;
    const flat = (p) => [
      width / 2 + scale * (dot(p, right) - center(across)),
      height / 2 - scale * (dot(p, up) - center(along)),
      dot(p, front),
    ];
    const shapes = [];
    const step = size > 1.5 ? 0.5 : 0.1;
    const span = Math.ceil(size / 2 / step) * step;
    for (let k = -span; k <= span + 1e-9; k += step) {
      for (const [p, q] of [[[k, -span, 0], [k, span, 0]], [[-span, k, 0], [span, k, 0]]]) {
        const [x1, y1] = flat(p), [x2, y2] = flat(q);
        shapes.push({ depth: -Infinity, node: node("line", { x1, y1, x2, y2, class: "ground" }) });
      }
    }
    for (const [p, q] of data.lines) {
      const [x1, y1, d1] = flat(p), [x2, y2, d2] = flat(q);
      shapes.push({ depth: (d1 + d2) / 2, node: node("line", { x1, y1, x2, y2, class: "bone" }) });
    }
    for (const solid of solids) {
      if (!figure.querySelector(`[data-show="${solid.kind}"]`)?.checked) continue;
      const [cx, cy, depth] = flat(solid.center);
      const mr = apply(solid.matrix, right), mu = apply(solid.matrix, up);
      const xx = dot(right, mr), xy = -dot(right, mu), yy = dot(up, mu);
      const mean = (xx + yy) / 2, radius = Math.hypot((xx - yy) / 2, xy);
      const angle = (Math.atan2(2 * xy, xx - yy) * 90) / Math.PI;
      const ellipse = node("ellipse", {
        cx, cy,
        rx: Math.max(1.5, scale * Math.sqrt(mean + radius)),
        ry: Math.max(1.5, scale * Math.sqrt(Math.max(mean - radius, 0))),
        transform: `rotate(${angle} ${cx} ${cy})`,
        class: "shape-" + solid.kind,
      });
      ellipse.append(Object.assign(node("title", {}), { textContent: solid.label }));
      shapes.push({ depth, node: ellipse });
    }
    shapes.sort((p, q) => p.depth - q.depth);
    svg.replaceChildren(...shapes.map((shape) => shape.node));
  };
  svg.addEventListener("pointerdown", (event) => svg.setPointerCapture(event.pointerId));
  svg.addEventListener("pointermove", (event) => {
    if (!svg.hasPointerCapture(event.pointerId)) return;
    view[0] -= event.movementX / 150;
    view[1] = Math.min(1.5, Math.max(-0.3, view[1] + event.movementY / 150));
    draw();
  });
  figure.querySelectorAll("input").forEach((input) => input.addEventListener("change", draw));
  figure.querySelector("[data-turn]").addEventListener("click", () => { view = [...home]; draw(); });
  figure.querySelector(".wait").remove();
  figure.classList.add("drawn");
  draw();
}

document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll("table.sortable").forEach(foldable);
document.querySelectorAll("script[data-drawing]").forEach(drawing);
plots();
