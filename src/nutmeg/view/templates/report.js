// What makes a report more than paper: values under the pointer, zoom, curves on and off, and tables that can be sorted.
// The page is complete without it. Figures are SVG elements whose data-axes (see reports/plots.py) says where each axes
// is, what its edges mean, and which curves it has.
(() => {
  const number = (value) => (value === 0 ? "0" : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4))));

  // ---- figures
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const mapped = (share, [low, high], log) => (log ? low * (high / low) ** share : low + share * (high - low));
  function points(path) {  // corners of a line, in the coordinates of the figure; a line of nothing but gaps has none
    const numbers = ((path.getAttribute("d") || "").match(/-?\d+(\.\d+)?/g) || []).map(Number);
    return Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i], numbers[2 * i + 1]]);
  }
  function enliven(svg) {
    const all = JSON.parse(svg.dataset.axes);
    const whole = svg.getAttribute("viewBox");
    const make = (name) => svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", name));
    const cursor = make("line");
    cursor.setAttribute("class", "cursor");
    const frame = make("rect");
    frame.setAttribute("class", "frame");
    const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const under = (at) => all.findIndex(({ box: [x, y, w, h] }) => at.x >= x && at.x <= x + w && at.y >= y && at.y <= y + h);
    all.forEach((axes, a) => axes.curves.forEach((curve, c) => {
      curve.lines = [...svg.querySelectorAll(`[data-part^="curve-${a}-${c}-"]`)];
      curve.shapes = curve.lines.map((line) => [...line.querySelectorAll(":scope > path")].flatMap(points)).filter((shape) => shape.length);
      const label = svg.querySelector(`[data-part="legend-${a}-${c}"]`);
      if (!label || !curve.lines.length) return;
      label.setAttribute("class", "toggle");
      label.setAttribute("tabindex", "0");
      label.setAttribute("role", "button");
      const toggle = () => {
        curve.off = !curve.off;
        for (const line of curve.lines) line.style.display = curve.off ? "none" : "";
        label.style.opacity = curve.off ? 0.4 : 1;
      };
      label.addEventListener("click", (event) => { event.stopPropagation(); toggle(); });
      label.addEventListener("keydown", (event) => { if (event.key === "Enter") toggle(); });
    }));
    let start = null;
    svg.addEventListener("pointermove", (event) => {
      const at = place(event);
      if (start) {
        for (const [name, value] of [["x", Math.min(at.x, start.x)], ["y", Math.min(at.y, start.y)], ["width", Math.abs(at.x - start.x)], ["height", Math.abs(at.y - start.y)]]) frame.setAttribute(name, value);
      }
      const axes = all[under(at)];
      tip.hidden = !axes;
      cursor.style.display = axes ? "" : "none";
      if (!axes) return;
      const [x, y, w, h] = axes.box;
      const lines = [];
      let reached = at.x;
      let nearest = Infinity;
      for (const curve of axes.curves) {
        const values = [];
        for (const shape of curve.off ? [] : curve.shapes) {
          const found = shape.reduce((best, point) => (Math.abs(point[0] - at.x) < Math.abs(best[0] - at.x) ? point : best));
          if (Math.abs(found[0] - at.x) > 0.05 * w) continue;
          if (Math.abs(found[0] - at.x) < nearest) [nearest, reached] = [Math.abs(found[0] - at.x), found[0]];
          values.push(number(mapped((y + h - found[1]) / h, axes.y, axes.logY)));
        }
        if (values.length) lines.push(`${curve.name}: ${values.join(", ")}`);
      }
      tip.textContent = [`${axes.label ? `${axes.label}: ` : ""}${number(mapped((reached - x) / w, axes.x, axes.logX))}`, ...lines].join("\n");
      tip.style.left = `${Math.min(event.pageX + 14, document.documentElement.clientWidth - tip.offsetWidth - 8)}px`;
      tip.style.top = `${event.pageY + 14}px`;
      for (const [name, value] of [["x1", reached], ["x2", reached], ["y1", y], ["y2", y + h]]) cursor.setAttribute(name, value);
    });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; cursor.style.display = "none"; });
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0 || under(place(event)) < 0) return;
      event.preventDefault();
      start = place(event);
    });
    window.addEventListener("pointerup", () => {
      const [w, h] = ["width", "height"].map((name) => Number(frame.getAttribute(name)) || 0);
      if (start && w > 8 && h > 8) svg.setAttribute("viewBox", ["x", "y", "width", "height"].map((name) => frame.getAttribute(name)).join(" "));
      start = null;
      for (const name of ["width", "height"]) frame.setAttribute(name, 0);
    });
    svg.addEventListener("dblclick", () => svg.setAttribute("viewBox", whole));
  }
  document.querySelectorAll("svg[data-axes]").forEach(enliven);

  // ---- sections that are folded: a link to one opens it, and on paper all are open
  const unfold = (where) => where.querySelectorAll(":scope > details").forEach((one) => { one.open = true; });
  const follow = () => { const to = document.getElementById(location.hash.slice(1)); if (to) unfold(to); };
  window.addEventListener("hashchange", follow);
  window.addEventListener("beforeprint", () => document.querySelectorAll("section").forEach(unfold));
  follow();

  // ---- tables: a click on the name of a column sorts by it, another turns the order around
  const valueOf = (cell) => {
    const text = cell ? (cell.dataset.value || cell.textContent).trim() : "";
    const found = text.replace(/−/g, "-").match(/^[^\d+-]{0,2}([+-]?\d[\d,]*\.?\d*)/);
    return { text, number: found ? Number(found[1].replace(/,/g, "")) : NaN };
  };
  for (const table of document.querySelectorAll("table:not(.grid):not(.facts)")) {
    const body = table.tBodies[0];
    if (!table.tHead || !body || body.rows.length < 3 || body.querySelector("tr.group, [colspan]")) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.classList.add("sorts");
      head.tabIndex = 0;
      head.title = "Sort by this column";
      const sort = () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].map((row) => ({ row, value: valueOf(row.cells[column]) }));
        const numeric = rows.filter((one) => !Number.isNaN(one.value.number)).length > rows.length / 2;
        const order = (a, b) => (numeric ? (Number.isNaN(a.number) - Number.isNaN(b.number)) || a.number - b.number : a.text.localeCompare(b.text));
        rows.sort((a, b) => (down ? -1 : 1) * order(a.value, b.value));
        body.append(...rows.map((one) => one.row));
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
    });
  }
})();
