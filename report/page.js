"use strict";

document.documentElement.classList.add("js");

// The page contains files in compressed form. A click decompresses a file and saves it.
async function save(button) {
  const packed = Uint8Array.from(atob(button.dataset.gzip), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(unpacked).arrayBuffer();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: button.dataset.type }));
  link.download = button.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

for (const button of document.querySelectorAll("button.download")) {
  button.addEventListener("click", () => save(button));
}

// A link to a closed box opens the box.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") {
    target.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", openTarget);
openTarget();

// Open all boxes before printing, and restore them afterwards.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const box of closed) box.open = true;
});
addEventListener("afterprint", () => {
  for (const box of closed) box.open = false;
});

// Tooltips show a mark's run or cell and its numbers. Without this script, these are in the figure's data.
const REACH = 14; // pixels from a mark

const numbersOf = (path) => (path.getAttribute("d").match(/-?[\d.]+(e-?\d+)?/g) ?? []).map(Number);
const pairsOf = (numbers) => Array.from({ length: numbers.length / 2 }, (_, n) => [numbers[2 * n], numbers[2 * n + 1]]);

// Positions of a group's marks: points, or the bounding boxes of filled shapes.
function placesOf(group) {
  const uses = [...group.querySelectorAll("use")];
  if (uses.length) return uses.map((mark) => [[+mark.getAttribute("x"), +mark.getAttribute("y")]]);
  const gathered = group.querySelector('path[style*="marker-mid"]');
  if (gathered) return pairsOf(numbersOf(gathered)).map((place) => [place]);
  const parts = group.querySelector("path").getAttribute("d").split("M").slice(1);
  return parts.map((part) => pairsOf((part.match(/-?[\d.]+/g) ?? []).map(Number)));
}

function marksOf(panel) {
  return [...panel.querySelectorAll("[data-told]")].flatMap((group) => {
    const [name, texts] = [group.dataset.name, group.dataset.told.split("|")];
    return placesOf(group).map((places, n) => {
      const [xs, ys] = [0, 1].map((way) => places.map((place) => place[way]));
      const text = name ? `${name}, ${texts[n]}` : texts[n];
      return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys), text };
    });
  });
}

// Function from a position on an axis to the value there. The curve's attribute has the axis's scale, and two values with their positions.
function reading(carried) {
  const [scale, v0, p0, v1, p1, unit] = carried.split("|").map((part, n) => (n > 0 && n < 5 ? Number(part) : part));
  const log = scale === "log";
  const [low, high] = log ? [Math.log10(v0), Math.log10(v1)] : [v0, v1];
  return (place) => {
    const along = low + ((place - p0) / (p1 - p0)) * (high - low);
    const shown = (log ? 10 ** along : along).toLocaleString("en", { maximumSignificantDigits: 3 });
    return `${shown} ${unit}`.trim();
  };
}

function curvesOf(panel) {
  return [...panel.querySelectorAll("[data-x]")].map((group) => ({
    points: pairsOf(numbersOf(group.querySelector("path"))),
    text: (x, y) => `${group.dataset.name}: ${reading(group.dataset.y)(y)} at ${reading(group.dataset.x)(x)}`,
  }));
}

// Distance and position of the nearest point on a curve.
function nearestOn(points, x, y) {
  let best = [Infinity, 0, 0];
  for (let n = 0; n < points.length; n++) {
    const [[ax, ay], [bx, by]] = [points[Math.max(0, n - 1)], points[n]];
    const long = (bx - ax) ** 2 + (by - ay) ** 2;
    const share = long ? Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / long)) : 0;
    const [px, py] = [ax + share * (bx - ax), ay + share * (by - ay)];
    const far = Math.hypot(px - x, py - y);
    if (far < best[0]) best = [far, px, py];
  }
  return best;
}

// Text of the mark or curve nearest to a position in a panel, within the distance `reach`. If several marks contain the position, the smallest wins.
function textAt(marks, curves, x, y, reach) {
  let best = { far: reach, size: Infinity, text: "" };
  for (const mark of marks) {
    const far = Math.hypot(Math.max(mark.left - x, 0, x - mark.right), Math.max(mark.top - y, 0, y - mark.bottom));
    const size = (mark.right - mark.left) * (mark.bottom - mark.top);
    if (far < best.far || (far === best.far && size < best.size)) best = { far, size, text: mark.text };
  }
  for (const curve of best.text ? [] : curves) {
    const [far, px, py] = nearestOn(curve.points, x, y);
    if (far < best.far) best = { far, size: 0, text: curve.text(px, py) };
  }
  return best.text;
}

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

for (const panel of document.querySelectorAll("svg.panel")) {
  if (!panel.querySelector("[data-told], [data-x]")) continue;
  let drawn = null;
  panel.addEventListener("pointermove", (event) => {
    drawn ??= [marksOf(panel), curvesOf(panel)];
    const matrix = panel.getScreenCTM();
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    tip.textContent = textAt(...drawn, place.x, place.y, REACH / matrix.a);
    tip.hidden = !tip.textContent;
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${event.clientY + 14}px`;
  });
  panel.addEventListener("pointerleave", () => {
    tip.hidden = true;
  });
}

// Tables can be sorted and filtered. Without this script, they are plain tables in the study's order.
const PAGE = 100; // number of rows shown at first, and added by each click
const FEW = 8; // tables with up to this many rows have no filter
const inOrder = new Intl.Collator("en", { numeric: true });

async function unpackRows(gzip) {
  const packed = Uint8Array.from(atob(gzip), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const rows = JSON.parse(await new Response(stream).text());
  return rows.map((cells) => ({
    cells: cells.map((cell) => {
      const [text, value, style] = Array.isArray(cell) ? cell : [cell, null, ""];
      return { text, value: value ?? text, style };
    }),
  }));
}

function rowsOf(table) {
  return [...table.tBodies[0].rows].map((element) => ({
    element,
    cells: [...element.cells].map((cell) => ({
      text: cell.textContent.trim(),
      value: cell.dataset.value ?? cell.textContent.trim(),
    })),
  }));
}

function elementOf(row, heads) {
  if (row.element) return row.element;
  row.element = document.createElement("tr");
  row.cells.forEach((cell, number) => {
    const header = "header" in heads[number].dataset;
    const element = document.createElement(header ? "th" : "td");
    if (header) element.scope = "row";
    element.className = `${heads[number].className} ${cell.style}`.trim();
    element.textContent = cell.text;
    row.element.append(element);
  });
  return row.element;
}

// Compare numbers by value, and texts in natural order ("2" before "10"). Missing values come last in both directions.
function comparison(number, kind, direction) {
  const missing = (cell) => (kind === "number" ? cell.value === "–" : cell.text === "");
  return (a, b) => {
    const [x, y] = [a.cells[number], b.cells[number]];
    if (missing(x) || missing(y)) return missing(x) - missing(y);
    const order = kind === "number" ? x.value - y.value : inOrder.compare(x.value, y.value);
    return direction * order;
  };
}

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

class DataTable {
  constructor(box, rows) {
    this.table = box.querySelector("table");
    this.heads = [...this.table.tHead.rows[0].cells];
    this.rows = rows;
    this.choices = this.heads.map((head) => head.dataset.initial ?? "");
    this.words = "";
    this.sorted = { number: -1, direction: 1 };
    this.shown = PAGE;
    for (const row of rows) {
      row.text = row.cells.map((cell) => cell.text).join(" ").replaceAll("−", "-").toLowerCase();
    }
    if (rows.length > 1) this.heads.forEach((head, number) => this.addSort(head, number));
    this.status = make("p", { className: "rows", role: "status" });
    this.more = make("button", { type: "button", className: "more-rows" });
    this.more.addEventListener("click", () => {
      this.shown += PAGE;
      this.render();
    });
    if (rows.length > FEW) box.prepend(this.controls());
    box.append(this.more);
    this.render();
  }

  addSort(head, number) {
    const button = make("button", { type: "button", className: "sort", title: "Sort" });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => this.sortBy(number));
  }

  // Ascending, then descending, then the study's order again.
  sortBy(number) {
    const again = this.sorted.number === number;
    if (again && this.sorted.direction < 0) this.sorted = { number: -1, direction: 1 };
    else this.sorted = { number, direction: again ? -1 : 1 };
    this.heads.forEach((head, other) => {
      head.removeAttribute("aria-sort");
      if (other === this.sorted.number) {
        head.setAttribute("aria-sort", this.sorted.direction > 0 ? "ascending" : "descending");
      }
    });
    this.render();
  }

  controls() {
    const box = make("div", { className: "controls" });
    this.heads.forEach((head, number) => {
      if (!("filter" in head.dataset)) return;
      const values = new Set(this.rows.map((row) => row.cells[number].text));
      if (values.size < 2) return;
      const select = make("select", {}, new Option("all", ""));
      for (const value of values) if (value) select.add(new Option(value, value));
      select.value = this.choices[number];
      select.addEventListener("change", () => {
        this.choices[number] = select.value;
        this.filter();
      });
      box.append(make("label", {}, `${head.textContent.trim()} `, select));
    });
    const find = make("input", { type: "search", placeholder: "any column" });
    find.addEventListener("input", () => {
      this.words = find.value.trim().replaceAll("−", "-").toLowerCase();
      this.filter();
    });
    box.append(make("label", {}, "Find ", find), this.status);
    return box;
  }

  filter() {
    this.shown = PAGE;
    this.render();
  }

  render() {
    const { number, direction } = this.sorted;
    const matching = this.rows.filter(
      (row) =>
        row.text.includes(this.words) &&
        this.choices.every((choice, column) => !choice || row.cells[column].text === choice),
    );
    if (number >= 0) {
      const kind = this.heads[number].classList.contains("number") ? "number" : "text";
      matching.sort(comparison(number, kind, direction));
    }
    const page = matching.slice(0, this.shown);
    this.table.tBodies[0].replaceChildren(...page.map((row) => elementOf(row, this.heads)));
    const rest = matching.length - page.length;
    const [some, all] = [matching.length, this.rows.length].map((n) => n.toLocaleString("en"));
    this.status.textContent = `${some} of ${all} rows`;
    if (rest > 0) this.status.textContent += `, the first ${page.length.toLocaleString("en")} shown`;
    this.more.hidden = rest <= 0;
    this.more.textContent = `Show ${Math.min(rest, PAGE)} more rows`;
  }
}

for (const box of document.querySelectorAll(".data")) {
  const { gzip } = box.dataset;
  if (!gzip) new DataTable(box, rowsOf(box.querySelector("table")));
  else unpackRows(gzip).then((rows) => new DataTable(box, rows));
}
