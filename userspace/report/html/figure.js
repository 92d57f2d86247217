// SPDX-License-Identifier: MIT
// A chart with all that belongs to it: heading, what it shows, a legend of buttons, reading by keyboard, its values as a table.

const TABLE_ROWS = 500;

// Lines at given values, and the place that is being read by keyboard.
const marksPlugin = {
  id: "marks",
  afterDatasetsDraw(chart, _args, options) {
    const {ctx, chartArea: area} = chart;
    ctx.save();
    ctx.font = `11px ${Chart.defaults.font.family}`;
    for (const [i, mark] of (options.lines || []).entries()) {
      const scale = chart.scales[mark.axis || "y"], at = scale.getPixelForValue(mark.value);
      if (mark.value > scale.max || mark.value < scale.min)
        continue;
      const across = scale.axis === "y";
      ctx.strokeStyle = ctx.fillStyle = themeColor("text");
      ctx.setLineDash([5, 4]);
      ctx.beginPath();
      ctx.moveTo(across ? area.left : at, across ? at : area.top);
      ctx.lineTo(across ? area.right : at, across ? at : area.bottom);
      ctx.stroke();
      // Of lines side by side the first has its label to the left, so that two that are close both can be read.
      const left = !across && i === 0 && options.lines.length > 1;
      ctx.textAlign = across || left ? "right" : "left";
      const width = ctx.measureText(mark.label).width;
      const x = across ? area.right - 4 : left ? at : Math.min(at, area.right - width);
      const y = across ? (at - 14 < area.top ? at + 13 : at - 4) : area.top - 4;
      ctx.lineWidth = 3;
      ctx.strokeStyle = themeColor("card");
      ctx.setLineDash([]);
      ctx.strokeText(mark.label, x, y);
      ctx.fillText(mark.label, x, y);
      ctx.lineWidth = 1;
    }
    const cursor = chart.vramlabCursor;
    if (cursor !== undefined && cursor !== null) {
      const sideways = options.cursorAxis === "y";
      const at = chart.scales[sideways ? "y" : "x"].getPixelForValue(cursor);
      ctx.fillStyle = transparent(themeColor("accent"), 0.35);
      if (sideways)
        ctx.fillRect(area.left, at - 9, area.right - area.left, 18);
      else if (at >= area.left && at <= area.right)
        ctx.fillRect(at - 1.5, area.top, 3, area.bottom - area.top);
    }
    ctx.restore();
  },
};

function legendOf(chart) {
  return el("div", {class: "legend", role: "group", "aria-label": "Shown in the chart"},
    chart.data.datasets.map((d, i) => {
      const button = el("button", {type: "button", "aria-pressed": "true", onclick: () => {
        const on = !chart.isDatasetVisible(i);
        chart.setDatasetVisibility(i, on);
        chart.update("none");
        button.setAttribute("aria-pressed", String(on));
      }}, el("span", {class: "swatch", "data-color": d.themeColor, "aria-hidden": "true"}), d.label);
      button.firstChild.style.background = themeColor(d.themeColor);
      return button;
    }));
}

// rows: {head, rows: [{at, cells}]}; `at` is where the chart's cursor goes.
function readByKeyboard(canvas, chart, rows, readout) {
  let at = -1;
  canvas.addEventListener("keydown", event => {
    const steps = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity};
    if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey)
      return;
    event.preventDefault();
    const all = rows();
    const from = at < 0 && steps[event.key] < 0 ? all.rows.length : at;
    at = Math.max(0, Math.min(all.rows.length - 1, from + steps[event.key]));
    chart.vramlabCursor = all.rows[at].at;
    readout.textContent = all.head.map((h, i) => `${h}: ${all.rows[at].cells[i]}`).join("; ");
    chart.draw();
  });
  canvas.addEventListener("blur", () => {
    chart.vramlabCursor = null;
    chart.draw();
  });
}

function tableOf(title, rows, words) {
  const box = el("div");
  return el("details", {ontoggle: () => {
    if (box.firstChild)
      return;
    const all = rows(), every = Math.ceil(all.rows.length / TABLE_ROWS) || 1;
    const shown = all.rows.filter((_, i) => i % every === 0);
    const caption = every > 1 ? `${title}: one of ${every} rows, ${shown.length} of ${formatCount(all.rows.length)}` : title;
    box.append(dataTable(caption, all.head, shown.map(r => r.cells), words));
  }}, el("summary", {}, "Values as a table"), box);
}

// o: {title, about, type, datasets, scales, height, lines, cursorAxis, tooltip(item), rows(), words, nothing}. nothing: what
// to say in place of the chart. Returns the <figure>; its `chart` is the chart, if there is one.
function figure(o) {
  const id = newId("figure");
  const heading = el("h4", {id}, o.title);
  const about = o.about ? el("p", {class: "muted"}, o.about) : null;
  if (o.nothing) {
    const blank = el("p", {class: "nothing"}, o.nothing);
    blank.style.minHeight = `${o.height || 220}px`;
    return el("figure", {"aria-labelledby": id}, heading, about, blank);
  }
  const readout = el("p", {class: "readout", "aria-live": "polite"});
  const canvas = el("canvas", {tabindex: 0, role: "img",
    "aria-label": `Chart: ${o.title}. Arrow keys read its values; the table below has them all.`});
  const plot = el("div", {class: "plot"}, canvas);
  plot.style.height = `${o.height || 220}px`;
  const box = el("figure", {"aria-labelledby": id}, heading, about);
  canvas.addEventListener("focus", () => {
    if (!readout.textContent)
      readout.textContent = "Arrow keys, Page Up, Page Down, Home and End read the values.";
  });
  const small = matchMedia("(max-width: 30rem)").matches;
  const chart = new Chart(canvas, {
    type: o.type || "line",
    data: {datasets: o.datasets, labels: o.labels},
    plugins: [marksPlugin],
    options: {
      responsive: true, maintainAspectRatio: false, animation: false, resizeDelay: 50,
      font: {size: small ? 11 : 12},
      indexAxis: o.indexAxis || "x",
      interaction: o.interaction || {mode: "index", intersect: false},
      elements: {point: {radius: 0, hitRadius: 4}, line: {borderWidth: 1.5}, bar: {borderWidth: 0}},
      scales: o.scales,
      layout: {padding: {top: (o.lines || []).some(l => l.axis === "x") ? 16 : 0}},
      plugins: {
        legend: {display: false}, marks: {lines: o.lines, cursorAxis: o.cursorAxis},
        tooltip: {callbacks: {title: o.tooltipTitle, label: o.tooltip}},
      },
    },
  });
  charts.add(chart);
  paintChart(chart);
  chart.update("none");
  if (o.datasets.length > 1)
    box.append(legendOf(chart));
  box.append(plot, readout, tableOf(o.title, o.rows, o.words));
  readByKeyboard(canvas, chart, o.rows, readout);
  box.chart = chart;
  return box;
}

// Puts new figures into a box, and forgets the charts that were there.
function replaceFigures(box, figures) {
  for (const old of box.querySelectorAll("canvas")) {
    const chart = Chart.getChart(old);
    if (chart) {
      charts.delete(chart);
      chart.destroy();
    }
  }
  box.replaceChildren(...figures);
}
