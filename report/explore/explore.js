"use strict";

// Explore the runs of a study. One selection applies to the charts and the table; the page's address contains it.
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

// Approximate width of a text in a chart.
const textWidth = (text) => 7 * text.length;

const shortened = (value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "\u2013";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) return value.toPrecision(3);
  return Number(value.toPrecision(5)).toLocaleString("en", { maximumFractionDigits: 6 });
};

// Ticks: on a logarithmic axis 1, 2 and 5 times the powers of ten, otherwise four to eight round steps.
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

// Outlines of marks, as in the report's figures (matplotlib's names); a cross of two lines, "x", is an excluded run.
const CORNERS = {
  D: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
  v: [[-1, -1], [1, -1], [0, 1]],
  P: [[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]],
  X: [[-0.6, -1.2], [0, -0.6], [0.6, -1.2], [1.2, -0.6], [0.6, 0], [1.2, 0.6], [0.6, 1.2], [0, 0.6], [-0.6, 1.2], [-1.2, 0.6], [-0.6, 0], [-1.2, -0.6]],
  p: [[0, -1.2], [1.14, -0.37], [0.71, 0.97], [-0.71, 0.97], [-1.14, -0.37]],
};
function outline(marker, x, y, r) {
  if (marker in CORNERS) return `M${CORNERS[marker].map(([right, down]) => `${x + r * right} ${y + r * down}`).join("L")}Z`;
  if (marker === "x") return `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`;
  if (marker === "s") return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`;
  if (marker === "^") return `M${x} ${y - r}L${x + r} ${y + r}L${x - r} ${y + r}Z`;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
}

class Explorer {
  constructor(data) {
    this.data = data;
    this.runs = data.runs;
    this.estimates = new Map(data.cells.map((cell) => [cell.key.join(" "), cell]));
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
    this.offerSeries();
    dark.addEventListener("change", () => this.draw());
    asked.hidden = false;
    this.draw();
  }

  // The address contains the selection, by names that stay the same when a study grows.
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
    this.log = { x: given.get("logx") === "1", y: given.get("logy") === "1", t: given.get("logt") === "1" };
    this.series = given.get("series") ?? "";
    this.seriesOf = Math.max(0, data.scenarios.findIndex((one) => one.key === given.get("of")));
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
    if (this.series) named.set("series", this.series);
    if (this.series) named.set("of", data.scenarios[this.seriesOf].key);
    if (this.log.t) named.set("logt", "1");
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

  colour(cca) { return this.look(this.data.ccas[cca]); }

  look(cca) { return cca[dark.matches && !matchMedia("print").matches ? "dark" : "light"]; }

  words(measure) { const one = this.data.measures[measure]; return one.unit ? `${one.column}, ${one.unit}` : one.column; }

  draw() {
    this.write();
    const runs = this.shown(), { data } = this;
    const missing = this.log.x || this.log.y ? " A logarithmic axis can't show values of 0 or less." : "";
    element("meaning").textContent = `${runs.length} of ${this.runs.scenario.length} runs. ${data.measures[this.y].column}: ${data.measures[this.y].meaning} ${data.measures[this.x].column}: ${data.measures[this.x].meaning}${missing}`;
    this.scatter(runs);
    this.strips(runs);
    this.table(runs);
    this.lines(runs);
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
    if (!Number.isFinite(x.low) || !Number.isFinite(y.low)) return void make("p", { class: "note" }, box, "None of the selected runs has both values.");
    const svg = frame(box, `${this.words(this.y)} against ${this.words(this.x)}`, x, y, { x: this.words(this.x), y: this.words(this.y) });
    const inside = runs.filter((run) => x.shows(this.value(this.x, run)) && y.shows(this.value(this.y, run)));
    this.zoom(svg, x, y, (area) => { this.zoomed = area; this.draw(); });
    for (const run of inside.slice(0, MOST_MARKS)) this.mark(svg, run, x.place(this.value(this.x, run)), y.place(this.value(this.y, run)));
    const named = [];
    for (const [cell, rows] of this.cells(inside)) {
      const [mx, my] = [this.x, this.y].map((measure) => this.estimate(cell, measure).average);
      if (!x.shows(mx) || !y.shows(my)) continue;
      const cca = this.runs.cca[rows[0]];
      make("svg:path", { d: outline(this.data.ccas[cca].marker, x.place(mx), y.place(my), 5.5), fill: this.colour(cca), stroke: "var(--paper)", "pointer-events": "none" }, svg);
      // Omit a name that would overlap another one: marks have titles, and the table has all names.
      const [at, height] = [x.place(mx) + 8, y.place(my) - 6];
      const { name } = this.data.ccas[cca], isLast = at + textWidth(name) > WIDTH - RIGHT, left = isLast ? at - 16 - textWidth(name) : at;
      if (named.some((one) => left < one.right && left + textWidth(name) > one.left && Math.abs(one.height - height) < 12)) continue;
      named.push({ left, right: left + textWidth(name), height });
      make("svg:text", { x: isLast ? at - 16 : at, y: height, "text-anchor": isLast ? "end" : "start", "pointer-events": "none" }, svg, name);
    }
  }

  // Group runs by cell: scenario, CCA and IP version.
  cells(runs) {
    const cells = new Map();
    for (const run of runs) {
      const key = this.cell(run);
      if (!cells.has(key)) cells.set(key, []);
      cells.get(key).push(run);
    }
    return cells;
  }

  cell(run) {
    const { runs, data } = this;
    return [data.scenarios[runs.scenario[run]], data.ccas[runs.cca[run]], data.ip_versions[runs.ip_version[run]]].map((one) => one.key).join(" ");
  }

  // The mean of a cell, both ends of its interval (null if there is none), and the reason for a missing interval.
  estimate(cell, measure) {
    const [average, low, high, note] = this.estimates.get(cell)?.values[this.data.measures[measure].column] ?? [null, null, null, ""];
    return { average, low, high, note };
  }

  zoom(svg, x, y, zoomed) {
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
      zoomed({ x: area.x.map(x.value), y: area.y.map(y.value).reverse() });
    });
    svg.addEventListener("dblclick", () => zoomed(null));
  }

  strips(runs) {
    const box = element("strips");
    box.replaceChildren();
    const y = axis(runs.map((run) => this.value(this.y, run)), this.log.y, null, [HEIGHT - BOTTOM, TOP]);
    if (!Number.isFinite(y.low)) return void make("p", { class: "note" }, box, "None of the selected runs has a value.");
    const svg = frame(box, `${this.words(this.y)} by scenario`, null, y, { y: this.words(this.y) });
    const scenarios = [...this.chosen.scenario].sort((a, b) => a - b), ccas = [...this.chosen.cca].sort((a, b) => a - b);
    const ips = [...this.chosen.ip_version].sort((a, b) => a - b);
    const slot = (WIDTH - LEFT - RIGHT) / scenarios.length;
    scenarios.forEach((scenario, place) => {
      const name = this.data.scenarios[scenario].name, most = Math.max(3, Math.floor(slot / 7));
      make("svg:text", { x: LEFT + (place + 0.5) * slot, y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, svg, name.length > most ? `${name.slice(0, most - 1)}\u2026` : name);
    });
    let drawn = 0;
    for (const [cell, rows] of this.cells(runs)) {
      const place = scenarios.indexOf(this.runs.scenario[rows[0]]);
      const own = ccas.indexOf(this.runs.cca[rows[0]]) * ips.length + ips.indexOf(this.runs.ip_version[rows[0]]);
      const width = (slot * 0.8) / (ccas.length * ips.length), left = LEFT + place * slot + slot * 0.1 + own * width;
      const known = rows.filter((run) => y.shows(this.value(this.y, run)));
      known.forEach((run, number) => {
        if ((drawn += 1) > MOST_MARKS) return;
        this.mark(svg, run, left + ((number + 0.5) / known.length) * width, y.place(this.value(this.y, run)));
      });
      const { average, low, high } = this.estimate(cell, this.y), stroke = this.colour(this.runs.cca[rows[0]]);
      if (y.shows(average)) make("svg:line", { x1: left, x2: left + width, y1: y.place(average), y2: y.place(average), stroke, "stroke-width": 2 }, svg);
      if (low !== null && low !== high) {
        const [from, to] = [low, high].map((end) => y.place(Math.min(Math.max(end, y.low), y.high)));
        make("svg:line", { class: "interval", x1: left + width / 2, x2: left + width / 2, y1: from, y2: to, stroke, "stroke-width": 1.5 }, svg);
      }
    }
  }

  table(runs) {
    const table = element("shown"), head = table.tHead, body = table.tBodies[0];
    head.replaceChildren();
    body.replaceChildren();
    const row = make("tr", {}, head);
    for (const [text, kind] of [["Scenario", ""], ["CCA", ""], ["IP version", ""], ["Valid runs", "number"], [this.words(this.y), "number"], [this.words(this.x), "number"]]) make("th", { scope: "col", class: kind }, row, text);
    const why = new Set();
    for (const [cell, of_cell] of this.cells(runs)) {
      const valid = of_cell.filter((run) => this.runs.valid[run]), line = make("tr", {}, body);
      make("th", { scope: "row" }, line, this.data.scenarios[this.runs.scenario[of_cell[0]]].name);
      make("td", {}, line, this.data.ccas[this.runs.cca[of_cell[0]]].name);
      make("td", {}, line, this.data.ip_versions[this.runs.ip_version[of_cell[0]]].name);
      make("td", { class: "number" }, line, `${valid.length} of ${of_cell.length}`);
      for (const measure of [this.y, this.x]) {
        const { average, low, high, note } = this.estimate(cell, measure);
        if (note && low === null) why.add(note);
        make("td", { class: "number", title: note }, line, low === null ? shortened(average) : `${shortened(average)} (${shortened(low)} to ${shortened(high)})`);
      }
    }
    const reasons = [...why].slice(0, 3).join("; ");
    table.caption.textContent = `Means over the valid runs of the selected cells, with ${this.data.percent} % intervals${reasons && `. Reasons for missing intervals: ${reasons}`}`;
  }

  offerSeries() {
    const { data } = this, kinds = new Map(data.series.map((line) => [line.words, line.unit]));
    if (!kinds.size) return;
    const having = new Set(data.series.map((line) => this.runs.scenario[line.run]));
    if (!kinds.has(this.series)) [this.series] = kinds.keys();
    if (!having.has(this.seriesOf)) [this.seriesOf] = having;
    for (const [words, unit] of kinds) make("option", { value: words }, element("series"), `${words}, ${unit}`).selected = words === this.series;
    for (const place of having) make("option", { value: place }, element("series-scenario"), data.scenarios[place].name).selected = place === this.seriesOf;
    element("log-t").checked = this.log.t;
    element("over-time").hidden = false;
    const anew = () => {
      [this.series, this.seriesOf, this.log.t] = [element("series").value, Number(element("series-scenario").value), element("log-t").checked];
      this.zoomedTime = null;
      this.draw();
    };
    for (const id of ["series", "series-scenario", "log-t"]) element(id).addEventListener("change", anew);
    element("whole-time").addEventListener("click", () => { this.zoomedTime = null; this.draw(); });
  }

  // Lines of the selected runs, with all CCAs on the same axes. A CCA without the value (such as ssthresh) has no line.
  lines(runs) {
    const box = element("lines"), shown = new Set(runs);
    box.replaceChildren();
    const lines = this.data.series.filter((line) => line.words === this.series && this.runs.scenario[line.run] === this.seriesOf && shown.has(line.run));
    if (!lines.length) return void make("p", { class: "note" }, box, "None of the selected runs has such a line.");
    const words = `${this.series}, ${lines[0].unit}`;
    const ccaOf = (line) => (line.cca ? this.data.flow_ccas.find((one) => one.key === line.cca) : this.data.ccas[this.runs.cca[line.run]]);
    // Space for the longest name, beside the lines.
    const beside = Math.max(70, 20 + Math.max(...lines.map((line) => textWidth(ccaOf(line).name))));
    const x = axis(lines.flatMap((line) => line.t), false, this.zoomedTime?.x, [LEFT, WIDTH - RIGHT - beside]);
    const y = axis(lines.flatMap((line) => line.v), this.log.t, this.zoomedTime?.y, [HEIGHT - BOTTOM, TOP]);
    if (!Number.isFinite(y.low)) return void make("p", { class: "note" }, box, "A logarithmic axis can't show values of 0 or less.");
    const svg = frame(box, words, x, y, { x: "Time, s", y: words });
    this.zoom(svg, x, y, (area) => { this.zoomedTime = area; this.draw(); });
    const labels = [];
    for (const line of lines) {
      const cca = ccaOf(line);
      const colour = this.look(cca), { name } = cca;
      let path = "", last = null, drawn = null;
      line.t.forEach((time, place) => {
        const isIn = time >= x.low && time <= x.high && y.shows(line.v[place]);
        if (isIn) path += `${last ? "L" : "M"}${x.place(time).toFixed(1)} ${y.place(line.v[place]).toFixed(1)}`;
        last = isIn;
        if (isIn) drawn = y.place(line.v[place]);
      });
      const isIpv6 = this.data.ip_versions[this.runs.ip_version[line.run]].key === "ipv6";
      const curve = make("svg:path", { d: path, class: "line", fill: "none", stroke: colour, "stroke-width": 1.6, "stroke-dasharray": isIpv6 ? "5 3" : "none", tabindex: 0, role: "button", "aria-label": `${this.name(line.run)}, ${name}` }, svg);
      make("svg:title", {}, curve, this.name(line.run));
      curve.addEventListener("click", () => this.tell(line.run));
      curve.addEventListener("keydown", (event) => { if (event.key === "Enter") this.tell(line.run); });
      if (drawn !== null && !labels.some((one) => one.name === name)) labels.push({ name, at: drawn, colour });
    }
    labels.sort((a, b) => a.at - b.at);
    labels.forEach((label, place) => {
      if (place) label.at = Math.max(label.at, labels[place - 1].at + 13);
    });
    [...labels].reverse().forEach((label, place) => {
      label.at = Math.min(label.at, HEIGHT - BOTTOM - 4 - 13 * place);
      make("svg:line", { x1: WIDTH - RIGHT - beside + 4, x2: WIDTH - RIGHT - beside + 12, y1: label.at, y2: label.at, stroke: label.colour, "stroke-width": 3 }, svg);
      make("svg:text", { x: WIDTH - RIGHT - beside + 16, y: label.at + 4 }, svg, label.name);
    });
  }

  // Show a run: its values, the results of its checks, and the commands that repeat it.
  tell(run) {
    const { runs, data } = this, box = element("run");
    const scenario = data.scenarios[runs.scenario[run]], names = { scenario: scenario.key, cca: data.ccas[runs.cca[run]].key, ip_version: data.ip_versions[runs.ip_version[run]].key, replication: runs.replication[run], sha256: runs.sha256[run] };
    box.replaceChildren();
    make("h3", {}, box, this.name(run));
    make("p", {}, box, `${scenario.conditions}. Seed ${runs.seed[run]}. ${runs.valid[run] ? `All ${runs.checks[run]} checks passed.` : `Excluded: ${runs.why[run]}`}`);
    make("p", {}, box, `${this.words(this.y)}: ${shortened(this.value(this.y, run))}; ${this.words(this.x)}: ${shortened(this.value(this.x, run))}.`);
    if (!scenario.repeatable) make("p", { class: "note" }, box, "This run was measured with a real clock, so repeating it gives different bytes.");
    this.checks(run, box);
    const lines = [...data.commands.slice(0, scenario.repeatable ? undefined : 1), ...(scenario.packets ? ["# capture its packets:", data.packets] : [])];
    const text = lines.map((line) => line.replace(/\{(\w+)\}/g, (_, name) => names[name])).join("\n");
    make("code", {}, make("pre", { tabindex: 0 }, box), text);
    const button = make("button", { type: "button" }, box, "Copy the commands");
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { getSelection().selectAllChildren(box.querySelector("code")); button.textContent = "Selected: copy it"; }
    });
    box.scrollIntoView({ block: "nearest" });
  }

  // List the run's checks, beginning with failed checks.
  checks(run, box) {
    const { checks } = this.data;
    if (!checks) return void make("p", { class: "note" }, box, "The results of its checks are in tidy/checks.csv.");
    const rows = [...checks.runs[run]].sort((a, b) => a[1] - b[1]), folded = make("details", {}, box);
    make("summary", {}, folded, `Its ${rows.length} checks`);
    const table = make("table", {}, make("div", { class: "scroll", role: "region", "aria-label": "Checks of the run", tabindex: 0 }, folded)), head = make("tr", {}, table.createTHead());
    for (const text of ["Check", "Passed", "Expected", "Observed"]) make("th", { scope: "col" }, head, text);
    for (const [check, ok, expected, observed] of rows) {
      const line = make("tr", {}, table.tBodies[0] ?? table.createTBody());
      make("th", { scope: "row" }, line, checks.texts[check]);
      for (const text of [ok ? "yes" : "no", checks.texts[expected], checks.texts[observed]]) make("td", {}, line, text);
    }
    if (this.runs.why[run]) folded.open = true;
  }
}

unpack(asked.dataset.gzip).then((data) => { document.explorer = new Explorer(data); });
