// Plots of a replay without a server: channels to choose, a cursor at the moment shown that can be dragged, zoom in time,
// and values under the pointer. The numbers lie packed in window.nutmegStory.plots (see SignalTable in pages/plots.py);
// a channel is unpacked when it is plotted for the first time.
(() => {
  const page = window.nutmegReplay;
  const table = window.nutmegStory && window.nutmegStory.plots;
  if (!page || !table || !table.signals.length) return;
  const { make, button } = page;
  const HEIGHT = 150;
  const EDGES = { left: 46, right: 8, top: 6, bottom: 18 };
  const MISSING = 65535;
  const MAX_CURVES = 24;
  const SPANS = { "2 s": 2, "10 s": 10, "30 s": 30, "1 min": 60, "5 min": 300, "all": Infinity };
  const number = (value) => (value === 0 ? "0" : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4))));

  // ---- numbers
  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  let times = null;
  const known = new Map();
  async function columnsOf(name) {  // the curves of a channel, one array each
    times = times || new Float32Array((await unpack(table.times)).buffer);
    if (known.has(name)) return known.get(name);
    const signal = table.signals.find((one) => one.name === name);
    const bytes = await unpack(signal.data);
    const half = bytes.length / 2;
    const columns = signal.labels.map((label, c) => {
      const values = new Float32Array(table.rows);
      const scale = (signal.high[c] - signal.low[c]) / (MISSING - 1);
      for (let row = 0, step = 0; row < table.rows; row++) {
        const at = c * table.rows + row;
        step = (step + bytes[at] + 256 * bytes[half + at]) & 0xffff;
        values[row] = step === MISSING ? NaN : signal.low[c] + step * scale;
      }
      return values;
    });
    known.set(name, columns);
    return columns;
  }
  const rowAt = (time) => {  // the last row not later than a time
    let low = 0;
    let high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= time) low = middle; else high = middle - 1;
    }
    return low;
  };

  // ---- the panel
  const plots = [];
  let span = Infinity;
  let range = null;  // the times at both ends; null for the whole
  let panel = null;
  const option = (node, text, shown = text) => { make("option", "", node, shown).value = text; };
  const choose = (parent, label, options) => {
    const node = make("select", "", parent);
    node.setAttribute("aria-label", label);
    options.forEach((text) => option(node, text));
    return node;
  };
  function build() {
    const box = make("div", "", document.body);
    box.id = "nutmeg-plots";
    const head = make("div", "np-head", box);
    const channel = choose(head, "Channel", []);
    table.signals.forEach((one) => option(channel, one.name, one.title));
    const label = choose(head, "Label", [table.all]);
    const offer = () => {
      label.replaceChildren();
      [table.all, ...table.signals.find((one) => one.name === channel.value).labels].forEach((text) => option(label, text));
    };
    channel.onchange = offer;
    channel.value = (table.signals.find((one) => one.name.endsWith(".speed")) || table.signals[0]).name;
    offer();
    button("np-key", head, "+ plot", "Plot this", () => add(channel.value, label.value));
    button("np-key", head, "+ curve", "Add this to the last plot", () => add(channel.value, label.value, { join: true }));
    button("np-key", head, "− plot", "Remove the last plot", () => { const last = plots.pop(); if (last) last.box.remove(); });
    const shown = choose(head, "Time shown", Object.keys(SPANS));
    shown.value = "all";
    shown.onchange = () => { span = SPANS[shown.value]; range = null; shown.blur(); };
    make("div", "np-note", box, `Drag to zoom, double click for the whole, click to go there. One value every ${number(table.period)} s.`);
    return { box, list: make("div", "np-list", box) };
  }
  async function add(name, label, { join = false } = {}) {
    const signal = table.signals.find((one) => one.name === name);
    const columns = await columnsOf(name);
    const curves = signal.labels.map((its, i) => ({ signal, label: its, values: columns[i], off: false }))
      .filter((curve) => label === table.all || curve.label === label);
    const plot = (join && plots[plots.length - 1]) || newPlot();
    const there = new Set(plot.curves.map((curve) => curve.values));
    plot.curves = [...plot.curves, ...curves.filter((curve) => !there.has(curve.values))].slice(0, MAX_CURVES);
    plot.relabel();
    plot.drawn = "";
  }
  function newPlot() {
    const box = make("div", "np-plot", panel.list);
    const plot = { box, curves: [], drawn: "", pointer: null, title: make("div", "np-title", box), canvas: make("canvas", "", box), legend: make("div", "np-legend", box) };
    plot.canvas.height = HEIGHT;
    plot.canvas.setAttribute("role", "img");
    plot.relabel = () => {
      const names = [...new Set(plot.curves.map((curve) => curve.signal.title))];
      const units = [...new Set(plot.curves.map((curve) => curve.signal.unit))].filter(Boolean);
      plot.title.textContent = names.join(", ") + (units.length === 1 ? ` [${units[0]}]` : "");
      plot.canvas.setAttribute("aria-label", plot.title.textContent);
      plot.legend.replaceChildren();
      plot.curves.forEach((curve, i) => {
        curve.colour = table.colours[i % table.colours.length];
        curve.entry = button("np-entry", plot.legend, "", `Show or hide ${curve.label}`, () => {
          curve.off = !curve.off;
          curve.entry.setAttribute("aria-pressed", String(!curve.off));
          plot.drawn = "";
        });
        curve.entry.setAttribute("aria-pressed", "true");
        curve.entry.style.setProperty("--curve", curve.colour);
      });
    };
    listen(plot);
    plots.push(plot);
    return plot;
  }
  function listen(plot) {
    let from = null;
    let dragging = false;
    const at = (event) => event.clientX - plot.canvas.getBoundingClientRect().left;
    plot.canvas.onpointerdown = (event) => {
      plot.canvas.setPointerCapture(event.pointerId);
      dragging = Math.abs(at(event) - plot.x(page.time())) < 7;
      from = dragging ? null : at(event);
    };
    plot.canvas.onpointermove = (event) => {
      plot.pointer = at(event);
      plot.zoom = from !== null && Math.abs(plot.pointer - from) > 4 ? [from, plot.pointer] : null;
      plot.canvas.style.cursor = dragging || Math.abs(plot.pointer - plot.x(page.time())) < 7 ? "ew-resize" : "crosshair";
      if (dragging) page.seek(plot.time(plot.pointer));
    };
    plot.canvas.onpointerup = () => {
      if (plot.zoom) range = plot.zoom.map(plot.time).sort((a, b) => a - b);
      else if (from !== null) page.seek(plot.time(from));
      from = plot.zoom = null;
      dragging = false;
    };
    plot.canvas.ondblclick = () => { range = null; };
    plot.canvas.onpointerleave = () => { plot.pointer = null; };
  }

  // ---- drawing
  function shownRange(now) {
    const end = times[times.length - 1] || 1;
    if (range && (now < range[0] || now > range[1]) && range.moving) range = null;
    if (!range && span < end) {
      range = [Math.max(now - 0.1 * span, 0), Math.max(now - 0.1 * span, 0) + span];
      range.moving = true;  // turns its page when the cursor leaves it
    }
    return range || [0, end];
  }
  const TIME_STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200];
  function niceStep(raw) {
    const unit = 10 ** Math.floor(Math.log10(raw));
    return unit * [1, 2, 5, 10].find((factor) => factor * unit >= raw);
  }
  function ticks(low, high, step) {
    return Array.from({ length: Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1 }, (_, i) => (Math.ceil(low / step - 1e-9) + i) * step);
  }
  const clockText = (time, fine) => {
    const seconds = page.clockAt(Math.max(time, 0));
    const rest = (seconds % 60).toFixed(fine ? 1 : 0).padStart(fine ? 4 : 2, "0");
    return `${Math.floor(seconds / 60)}:${rest}`;
  };
  function draw(plot, now) {
    const width = plot.box.clientWidth;
    const [from, to] = shownRange(now);
    const ratio = window.devicePixelRatio || 1;
    const key = [now, from, to, width, plot.pointer, plot.zoom].join(" ");
    if (key === plot.drawn) return;
    plot.drawn = key;
    const { canvas } = plot;
    canvas.title = `${page.clockText(from)} to ${page.clockText(to)}`;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${HEIGHT}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const inner = width - EDGES.left - EDGES.right;
    const high = HEIGHT - EDGES.top - EDGES.bottom;
    plot.x = (time) => EDGES.left + inner * (time - from) / (to - from);
    plot.time = (x) => Math.min(Math.max(from + (to - from) * (x - EDGES.left) / inner, 0), times[times.length - 1]);
    const first = rowAt(from);
    const last = Math.min(rowAt(to) + 1, times.length - 1);
    let [bottom, top] = [Infinity, -Infinity];
    for (const { values, off } of plot.curves) {
      for (let row = first; row <= last && !off; row++) {
        if (values[row] < bottom) bottom = values[row];
        if (values[row] > top) top = values[row];
      }
    }
    if (!(bottom <= top)) [bottom, top] = [0, 1];
    if (top - bottom < 1e-9) [bottom, top] = [bottom - 0.5, top + 0.5];
    const y = (value) => EDGES.top + high * (top - value) / (top - bottom);
    const ink = getComputedStyle(plot.box).color;
    pen.font = "10px system-ui, sans-serif";
    pen.fillStyle = ink;
    pen.strokeStyle = "#8883";
    pen.lineWidth = 1;
    pen.textAlign = "right";
    for (const value of ticks(bottom, top, niceStep((top - bottom) / 4))) {
      pen.strokeRect(EDGES.left, y(value), inner, 0);
      pen.fillText(number(value), EDGES.left - 4, y(value) + 3);
    }
    pen.textAlign = "center";
    const step = TIME_STEPS.find((one) => one >= (to - from) / 6) || niceStep((to - from) / 6);
    for (const time of ticks(from, to, step)) pen.fillText(clockText(time, to - from < 10), Math.min(plot.x(time), width - 14), HEIGHT - 5);
    pen.save();
    pen.beginPath();
    pen.rect(EDGES.left, EDGES.top, inner, high);
    pen.clip();
    pen.lineWidth = 1.4;
    for (const curve of plot.curves) if (!curve.off) trace(pen, plot, curve, first, last, y);
    if (plot.zoom) {
      pen.fillStyle = "#2278482e";
      pen.fillRect(plot.zoom[0], EDGES.top, plot.zoom[1] - plot.zoom[0], high);
    }
    pen.fillStyle = "#d9261f";
    pen.fillRect(plot.x(now) - 0.75, EDGES.top, 1.5, high);
    pen.restore();
    const row = rowAt(plot.pointer === null ? now : plot.time(plot.pointer));
    const many = new Set(plot.curves.map((curve) => curve.signal.name)).size > 1;
    for (const curve of plot.curves) {
      const value = curve.values[row];
      curve.entry.textContent = `${many ? `${curve.signal.name}.` : ""}${curve.label} ${Number.isNaN(value) ? "–" : number(value)}`;
    }
  }
  function trace(pen, plot, { values, colour }, first, last, y) {
    pen.strokeStyle = colour;
    pen.beginPath();
    let before = -1;  // the last row that has a value: a line goes on from it unless the gap is long
    const longest = Math.max(table.gap, 3 * table.period);
    for (let row = first; row <= last; row++) {
      if (Number.isNaN(values[row])) continue;
      const gap = before < 0 || times[row] - times[before] > longest;
      pen[gap ? "moveTo" : "lineTo"](plot.x(times[row]), y(values[row]));
      before = row;
    }
    pen.stroke();
  }
  function tick() {
    requestAnimationFrame(tick);
    if (!page.ready()) return;
    if (!panel) {
      panel = build();
      panel.box.hidden = !table.first.length;
      const asked = new URLSearchParams(location.search).getAll("plot");
      for (const [name, label] of table.first) add(name, label);
      for (const name of asked) {
        const signal = table.signals.find((one) => name === one.name || name.startsWith(`${one.name}.`));
        const label = signal && name.slice(signal.name.length + 1);
        if (signal && (!label || signal.labels.includes(label))) { add(signal.name, label || table.all); panel.box.hidden = false; }
      }
      const open = button("np-open", document.getElementById("nutmeg-cameras"), "Plots", "Show or hide plots", () => {
        panel.box.hidden = !panel.box.hidden;
        open.setAttribute("aria-pressed", String(!panel.box.hidden));
      });
      open.setAttribute("aria-pressed", String(!panel.box.hidden));
    }
    if (!panel.box.hidden && times) plots.forEach((plot) => draw(plot, page.time()));
  }
  requestAnimationFrame(tick);
})();
