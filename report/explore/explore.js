"use strict";

// Asks the runs of a study: what is chosen once holds for both charts and the table, and stands in the address.
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 560, HEIGHT = 380, LEFT = 64, RIGHT = 14, TOP = 14, BOTTOM = 44;
const MOST_MARKS = 20000;
const asked = document.getElementById("asked");
const element = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
}

function make(name, attributes, parent, text) {
  const made = name.startsWith("svg:") ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

const shortened = (value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "\u2013";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) return value.toPrecision(3);
  return Number(value.toPrecision(5)).toLocaleString("en", { maximumFractionDigits: 6 });
};

// Ticks: powers of ten and their halves and fifths on a logarithmic axis, else four to eight round steps.
function ticks(low, high, isLog) {
  if (isLog) {
    const all = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      for (const factor of [1, 2, 5]) all.push(factor * 10 ** power);
    }
    const inside = all.filter((value) => value >= low && value <= high);
    return inside.length > 8 ? inside.filter((value) => Math.abs(Math.log10(value) % 1) < 1e-9) : inside;
  }
  const raw = (high - low) / 5 || 1;
  const step = [1, 2, 5, 10].map((factor) => factor * 10 ** Math.floor(Math.log10(raw))).find((value) => value >= raw);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, n) => (first + n) * step);
}

function axis(values, isLog, range, pixels) {
  const usable = values.filter((value) => value !== null && (!isLog || value > 0));
  let [low, high] = range ?? [usable.reduce((a, b) => Math.min(a, b), Infinity), usable.reduce((a, b) => Math.max(a, b), -Infinity)];
  if (!range && usable.length) {
    const room = isLog ? 0 : (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
    [low, high] = isLog ? [low / 1.15, high * 1.15] : [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
  }
  const scale = isLog ? Math.log10 : (value) => value;
  const place = (value) => pixels[0] + ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (pixels[1] - pixels[0]);
  const value = (pixel) => {
    const at = scale(low) + ((pixel - pixels[0]) / (pixels[1] - pixels[0])) * (scale(high) - scale(low));
    return isLog ? 10 ** at : at;
  };
  return { low, high, place, value, isLog, shows: (one) => one !== null && (!isLog || one > 0) && one >= low && one <= high };
}

function frame(parent, title, x, y, words) {
  const svg = make("svg:svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": title }, parent);
  for (const value of ticks(y.low, y.high, y.isLog)) {
    make("svg:line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y.place(value), y2: y.place(value) }, svg);
    make("svg:text", { x: LEFT - 6, y: y.place(value) + 4, "text-anchor": "end" }, svg, shortened(value));
  }
  for (const value of x ? ticks(x.low, x.high, x.isLog) : []) {
    make("svg:line", { class: "grid", y1: TOP, y2: HEIGHT - BOTTOM, x1: x.place(value), x2: x.place(value) }, svg);
    make("svg:text", { x: x.place(value), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, svg, shortened(value));
  }
  make("svg:text", { x: LEFT, y: TOP - 3 }, svg, words.y);
  if (words.x) make("svg:text", { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, svg, words.x);
  return svg;
}

// Outlines of the marks that the figures of the report have: circle, square, triangle; a cross is an excluded run.
function outline(marker, x, y, r) {
  if (marker === "x") return `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`;
  if (marker === "s") return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`;
  if (marker === "^") return `M${x} ${y - r}L${x + r} ${y + r}L${x - r} ${y + r}Z`;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
}

class Explorer {
  constructor(data) {
    this.data = data;
    this.runs = data.runs;
    this.zoomed = null;
    this.read();
    for (const [id, levels, chosen] of [["choose-scenario", data.scenarios, "scenario"], ["choose-cca", data.ccas, "cca"], ["choose-ip", data.ip_versions, "ip_version"]]) {
      levels.forEach((level, place) => {
        const label = make("label", { title: level.conditions ?? level.key }, element(id));
        const box = make("input", { type: "checkbox" }, label);
        box.checked = this.chosen[chosen].has(place);
        label.append(` ${level.name}`);
        box.addEventListener("change", () => this.choose(chosen, place, box.checked));
      });
    }
    for (const way of ["x", "y"]) {
      for (const [place, measure] of data.measures.entries()) {
        const option = make("option", { value: place }, element(way), `${measure.column}${measure.unit ? `, ${measure.unit}` : ""}`);
        option.selected = place === this[way];
      }
      element(`log-${way}`).checked = this.log[way];
      element(way).addEventListener("change", () => { this[way] = Number(element(way).value); this.zoomed = null; this.draw(); });
      element(`log-${way}`).addEventListener("change", () => { this.log[way] = element(`log-${way}`).checked; this.zoomed = null; this.draw(); });
    }
    element("whole").addEventListener("click", () => { this.zoomed = null; this.draw(); });
    dark.addEventListener("change", () => this.draw());
    asked.hidden = false;
    this.draw();
  }

  // The address has what is chosen, by names that stay when a study grows.
  read() {
    const given = new URLSearchParams(location.hash.slice(1)), { data } = this;
    const chosen = (name, levels) => {
      const keys = given.get(name)?.split(",");
      const places = levels.map((_, place) => place).filter((place) => !keys || keys.includes(levels[place].key));
      return new Set(places.length ? places : levels.keys());
    };
    this.chosen = { scenario: chosen("scenario", data.scenarios), cca: chosen("cca", data.ccas), ip_version: chosen("ip", data.ip_versions) };
    const measure = (name, usual) => Math.max(0, data.measures.findIndex((one) => one.column === (given.get(name) ?? usual)));
    this.x = measure("x", "rtt_mean_ms");
    this.y = measure("y", "goodput_mbps");
    this.log = { x: given.get("logx") === "1", y: given.get("logy") === "1" };
  }

  write() {
    const { data, chosen } = this, named = new URLSearchParams();
    for (const [name, key, levels] of [["scenario", "scenario", data.scenarios], ["cca", "cca", data.ccas], ["ip", "ip_version", data.ip_versions]]) {
      if (chosen[key].size < levels.length) named.set(name, [...chosen[key]].map((place) => levels[place].key).join(","));
    }
    named.set("x", data.measures[this.x].column);
    named.set("y", data.measures[this.y].column);
    if (this.log.x) named.set("logx", "1");
    if (this.log.y) named.set("logy", "1");
    history.replaceState(null, "", `#${named}`);
  }

  choose(name, place, isChosen) {
    this.chosen[name][isChosen ? "add" : "delete"](place);
    this.draw();
  }

  shown() {
    const { runs, chosen } = this;
    return runs.scenario.map((_, run) => run).filter((run) =>
      chosen.scenario.has(runs.scenario[run]) && chosen.cca.has(runs.cca[run]) && chosen.ip_version.has(runs.ip_version[run]));
  }

  value(measure, run) { return this.runs.values[this.data.measures[measure].column][run]; }

  colour(cca) { return this.data.ccas[cca][dark.matches && !matchMedia("print").matches ? "dark" : "light"]; }

  words(measure) { const one = this.data.measures[measure]; return one.unit ? `${one.column}, ${one.unit}` : one.column; }

  draw() {
    this.write();
    const runs = this.shown(), { data } = this;
    const missing = this.log.x || this.log.y ? " A logarithmic axis has no place for values of 0 or less." : "";
    element("meaning").textContent = `${runs.length} of ${this.runs.scenario.length} runs. ${data.measures[this.y].column}: ${data.measures[this.y].meaning} ${data.measures[this.x].column}: ${data.measures[this.x].meaning}${missing}`;
    this.scatter(runs);
    this.strips(runs);
    this.table(runs);
  }

  mark(svg, run, x, y) {
    const { runs } = this, cca = runs.cca[run], isValid = runs.valid[run];
    const open = this.data.ip_versions[runs.ip_version[run]].key === "ipv6";
    const path = make("svg:path", {
      d: outline(isValid ? this.data.ccas[cca].marker : "x", x, y, 3.2), class: "mark", tabindex: 0, role: "button", "pointer-events": "all",
      fill: open || !isValid ? "none" : this.colour(cca), stroke: this.colour(cca), "stroke-width": 1.3, "fill-opacity": 0.65, "aria-label": this.name(run),
    }, svg);
    make("svg:title", {}, path, `${this.name(run)}: ${shortened(this.value(this.y, run))}, ${shortened(this.value(this.x, run))}`);
    path.addEventListener("click", () => this.tell(run));
    path.addEventListener("keydown", (event) => { if (event.key === "Enter") this.tell(run); });
  }

  name(run) {
    const { runs, data } = this;
    return `${data.scenarios[runs.scenario[run]].name}, ${data.ccas[runs.cca[run]].name}, ${data.ip_versions[runs.ip_version[run]].name}, replication ${runs.replication[run]}`;
  }

  scatter(runs) {
    const box = element("scatter");
    box.replaceChildren();
    const x = axis(runs.map((run) => this.value(this.x, run)), this.log.x, this.zoomed?.x, [LEFT, WIDTH - RIGHT]);
    const y = axis(runs.map((run) => this.value(this.y, run)), this.log.y, this.zoomed?.y, [HEIGHT - BOTTOM, TOP]);
    if (!Number.isFinite(x.low) || !Number.isFinite(y.low)) return void make("p", { class: "note" }, box, "No run that is chosen has both values.");
    const svg = frame(box, `${this.words(this.y)} against ${this.words(this.x)}`, x, y, { x: this.words(this.x), y: this.words(this.y) });
    const inside = runs.filter((run) => x.shows(this.value(this.x, run)) && y.shows(this.value(this.y, run)));
    this.zoom(svg, x, y);
    for (const run of inside.slice(0, MOST_MARKS)) this.mark(svg, run, x.place(this.value(this.x, run)), y.place(this.value(this.y, run)));
    for (const [, rows] of this.cells(inside)) {
      const valid = rows.filter((run) => this.runs.valid[run]);
      if (!valid.length) continue;
      const [mx, my] = [this.x, this.y].map((measure) => mean(valid.map((run) => this.value(measure, run))));
      const cca = this.runs.cca[rows[0]];
      make("svg:path", { d: outline(this.data.ccas[cca].marker, x.place(mx), y.place(my), 5.5), fill: this.colour(cca), stroke: "var(--paper)", "pointer-events": "none" }, svg);
      make("svg:text", { x: x.place(mx) + 8, y: y.place(my) - 6, "pointer-events": "none" }, svg, this.data.ccas[cca].name);
    }
  }

  // Runs of a scenario and CCA together.
  cells(runs) {
    const cells = new Map();
    for (const run of runs) {
      const key = `${this.runs.scenario[run]} ${this.runs.cca[run]}`;
      if (!cells.has(key)) cells.set(key, []);
      cells.get(key).push(run);
    }
    return cells;
  }

  zoom(svg, x, y) {
    let begin = null, band = null;
    const at = (event) => {
      const box = svg.getBoundingClientRect();
      return [((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * HEIGHT];
    };
    const ends = (event) => {
      const [px, py] = at(event);
      return { x: [begin[0], px].sort((a, b) => a - b), y: [begin[1], py].sort((a, b) => a - b) };
    };
    svg.addEventListener("pointerdown", (event) => { if (!event.target.closest(".mark")) { begin = at(event); svg.setPointerCapture(event.pointerId); } });
    svg.addEventListener("pointermove", (event) => {
      if (!begin) return;
      const area = ends(event);
      band ??= make("svg:rect", { class: "zoom" }, svg);
      for (const [key, value] of Object.entries({ x: area.x[0], y: area.y[0], width: area.x[1] - area.x[0], height: area.y[1] - area.y[0] })) band.setAttribute(key, value);
    });
    svg.addEventListener("pointerup", (event) => {
      if (!begin) return;
      const area = ends(event);
      begin = null;
      band?.remove();
      band = null;
      if (area.x[1] - area.x[0] < 8 || area.y[1] - area.y[0] < 8) return;
      this.zoomed = { x: area.x.map(x.value), y: area.y.map(y.value).reverse() };
      this.draw();
    });
    svg.addEventListener("dblclick", () => { this.zoomed = null; this.draw(); });
  }

  strips(runs) {
    const box = element("strips");
    box.replaceChildren();
    const y = axis(runs.map((run) => this.value(this.y, run)), this.log.y, null, [HEIGHT - BOTTOM, TOP]);
    if (!Number.isFinite(y.low)) return void make("p", { class: "note" }, box, "No run that is chosen has a value.");
    const svg = frame(box, `${this.words(this.y)} by scenario`, null, y, { y: this.words(this.y) });
    const scenarios = [...this.chosen.scenario].sort((a, b) => a - b), ccas = [...this.chosen.cca].sort((a, b) => a - b);
    const slot = (WIDTH - LEFT - RIGHT) / scenarios.length;
    scenarios.forEach((scenario, place) => {
      const name = this.data.scenarios[scenario].name, most = Math.max(3, Math.floor(slot / 7));
      make("svg:text", { x: LEFT + (place + 0.5) * slot, y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, svg, name.length > most ? `${name.slice(0, most - 1)}\u2026` : name);
    });
    let drawn = 0;
    for (const [, rows] of this.cells(runs)) {
      const place = scenarios.indexOf(this.runs.scenario[rows[0]]), own = ccas.indexOf(this.runs.cca[rows[0]]);
      const width = (slot * 0.8) / ccas.length, left = LEFT + place * slot + slot * 0.1 + own * width;
      const known = rows.filter((run) => y.shows(this.value(this.y, run)));
      known.forEach((run, number) => {
        if ((drawn += 1) > MOST_MARKS) return;
        this.mark(svg, run, left + ((number + 0.5) / known.length) * width, y.place(this.value(this.y, run)));
      });
      const valid = known.filter((run) => this.runs.valid[run]);
      if (valid.length) {
        const at = y.place(mean(valid.map((run) => this.value(this.y, run))));
        make("svg:line", { x1: left, x2: left + width, y1: at, y2: at, stroke: this.colour(this.runs.cca[rows[0]]), "stroke-width": 2 }, svg);
      }
    }
  }

  table(runs) {
    const table = element("shown"), head = table.tHead, body = table.tBodies[0];
    head.replaceChildren();
    body.replaceChildren();
    const row = make("tr", {}, head);
    for (const [text, kind] of [["Scenario", ""], ["CCA", ""], ["Valid runs", "number"], [this.words(this.y), "number"], [this.words(this.x), "number"]]) make("th", { scope: "col", class: kind }, row, text);
    for (const [, of_cell] of this.cells(runs)) {
      const valid = of_cell.filter((run) => this.runs.valid[run]), line = make("tr", {}, body);
      make("th", { scope: "row" }, line, this.data.scenarios[this.runs.scenario[of_cell[0]]].name);
      make("td", {}, line, this.data.ccas[this.runs.cca[of_cell[0]]].name);
      make("td", { class: "number" }, line, `${valid.length} of ${of_cell.length}`);
      for (const measure of [this.y, this.x]) make("td", { class: "number" }, line, shortened(mean(valid.map((run) => this.value(measure, run)))));
    }
  }

  // A run: what it had, whether its checks passed, and the command that repeats it.
  tell(run) {
    const { runs, data } = this, box = element("run");
    const scenario = data.scenarios[runs.scenario[run]], names = { scenario: scenario.key, cca: data.ccas[runs.cca[run]].key, ip_version: data.ip_versions[runs.ip_version[run]].key, replication: runs.replication[run], sha256: runs.sha256[run] };
    box.replaceChildren();
    make("h3", {}, box, this.name(run));
    make("p", {}, box, `${scenario.conditions}. Seed ${runs.seed[run]}. ${runs.valid[run] ? `All ${runs.checks[run]} checks passed.` : `Excluded: ${runs.why[run]}`}`);
    make("p", {}, box, `${this.words(this.y)}: ${shortened(this.value(this.y, run))}; ${this.words(this.x)}: ${shortened(this.value(this.x, run))}.`);
    if (!scenario.repeatable) make("p", { class: "note" }, box, "It was measured under a real clock: repeated, it gives other bytes.");
    const text = data.commands.slice(0, scenario.repeatable ? undefined : 1).map((line) => line.replace(/\{(\w+)\}/g, (_, name) => names[name])).join("\n");
    make("code", {}, make("pre", { tabindex: 0 }, box), text);
    const button = make("button", { type: "button" }, box, "Copy the command");
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { getSelection().selectAllChildren(box.querySelector("code")); button.textContent = "Selected: copy it"; }
    });
    box.scrollIntoView({ block: "nearest" });
  }
}

function mean(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

unpack(asked.dataset.gzip).then((data) => { document.explorer = new Explorer(data); });
