"use strict";

const PRINTED = 680; // pixels: the width of a page of A4 or letter paper

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
  };
  table.classList.add("sorts");
  for (const head of heads) {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(head));
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort(head));
  }
}

document.querySelectorAll("table.sortable").forEach(sortable);
plots();
