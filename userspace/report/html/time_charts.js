// SPDX-License-Identifier: MIT
// What happened over time, under one policy or two. Every function returns figures; `time` is the window that all share.

const SERIES_MAX = 7; // processes told apart; the others are one series

// The window of time that is drawn; its charts follow it.
class TimeWindow {
  constructor(endNs) {
    this.endNs = endNs || 1;
    this.unit = timeUnit(this.endNs);
    this.begin = 0;
    this.end = this.endNs;
    this.charts = new Set();
  }
  axis() {
    return {type: "linear", min: this.begin / this.unit.ns, max: this.end / this.unit.ns,
      title: {display: true, text: `time (${this.unit.name})`},
      ticks: {maxRotation: 0, autoSkipPadding: 12, callback: v => significant(v)}};
  }
  at(ns) {
    return ns / this.unit.ns;
  }
  words(ns) {
    return `${significant3(this.at(ns))} ${this.unit.name}`;
  }
  follow(figures) {
    for (const f of figures)
      if (f.chart)
        this.charts.add(f.chart);
    return figures;
  }
  show(begin, end) {
    this.begin = Math.max(0, Math.min(begin, this.endNs));
    this.end = Math.max(this.begin + 1, Math.min(end, this.endNs));
    for (const chart of this.charts) {
      if (!charts.has(chart)) {
        this.charts.delete(chart);
        continue;
      }
      chart.options.scales.x.min = this.at(this.begin);
      chart.options.scales.x.max = this.at(this.end);
      chart.update("none");
    }
  }
}

function significant3(v) {
  return String(Number(v.toFixed(3)));
}

// Bins as points in their middle.
function binPoints(time, bins, values) {
  return values.map((v, i) => ({x: time.at((i + 0.5) * bins.width_ns), y: v}));
}

function dataset(label, color, points, more) {
  return {label, themeColor: color, data: points, ...more};
}

function valueAxis(text, more) {
  return {type: "linear", beginAtZero: true, title: {display: true, text}, ticks: {maxTicksLimit: 6, callback: v => significant(v)}, ...more};
}

// Frame times of a process under several policies.
function frameFigure(scenario, runs, colors, process, time) {
  const series = runs.map(run => ({run, f: run.timeline.frames[process]})).filter(s => s.f);
  const thinned = series.filter(s => s.f.stride > 1).map(s =>
    `${s.run.policy}: each point is the longest of ${s.f.stride} frames`);
  const points = s => s.f.end_ns.map((end, i) => ({x: time.at(end), y: s.f.duration_ns[i] / NS_PER_MS}));
  return figure({
    title: `Frame times of ${processName(scenario, Number(process))}`,
    about: `Each frame at the time at which it ended. Modelled times. ${thinned.join("; ")}`,
    nothing: series.length ? "" : "This process finishes no frame.",
    height: 260,
    interaction: {mode: "nearest", axis: "x", intersect: false},
    datasets: series.map(s => dataset(s.run.policy, colors.get(s.run.policy), points(s))),
    scales: {x: time.axis(), y: valueAxis("frame time (ms)")},
    lines: [{value: 1000 / 60, label: "60 frames/s"}, {value: 1000 / 30, label: "30 frames/s"}],
    tooltipTitle: items => items.length ? `${significant3(items[0].parsed.x)} ${time.unit.name}` : "",
    tooltip: item => `${item.dataset.label}: ${significant(item.parsed.y)} ms`,
    words: [1],
    rows: () => ({head: [`end (${time.unit.name})`, "policy", "frame time"],
      rows: series.flatMap(s => s.f.end_ns.map((end, i) => ({at: time.at(end), ns: end,
        cells: [significant3(time.at(end)), s.run.policy, formatDuration(s.f.duration_ns[i])]})))
        .sort((a, b) => a.ns - b.ns)}),
  });
}

// The rows of a chart of bins: what each series has in each.
function binRows(time, bins, series, format) {
  return () => ({head: [`from (${time.unit.name})`, ...series.map(s => s.label)],
    rows: Array.from({length: bins.bins}, (_, i) => ({at: time.at((i + 0.5) * bins.width_ns),
      cells: [significant3(time.at(i * bins.width_ns)), ...series.map(s => format(s.values[i]))]}))});
}

function binTooltips(time, bins, format) {
  return {
    tooltipTitle: items => items.length
      ? `${time.words((items[0].parsed.x * time.unit.ns) - bins.width_ns / 2)}, for ${formatDuration(bins.width_ns)}` : "",
    tooltip: item => `${item.dataset.label}: ${format(item)}`,
  };
}

function vramFigure(scenario, run, time, most) {
  const bins = run.timeline.vram, unit = byteUnit(most);
  const all = scenario.system.processes.map((p, i) => ({label: processName(scenario, p.process), color: seriesColor(i),
    values: bins.processes[p.process]})).filter(s => s.values.some(v => v));
  const peak = s => Math.max(...s.values);
  const shown = all.length > SERIES_MAX + 1 ? [...all].sort((a, b) => peak(b) - peak(a)).slice(0, SERIES_MAX) : all;
  const rest = all.filter(s => !shown.includes(s));
  if (rest.length)
    shown.push({label: `${rest.length} others`, color: seriesColor(7),
      values: rest[0].values.map((_, i) => rest.reduce((sum, s) => sum + s.values[i], 0))});
  const scale = values => binPoints(time, bins, values.map(v => v / unit.bytes));
  const datasets = shown.map((s, i) => dataset(s.label, s.color, scale(s.values), {fill: i ? "stack" : "origin", stack: "vram", borderWidth: 1}));
  datasets.push(dataset("wanted in VRAM", "text", scale(bins.demand), {stack: "demand", borderDash: [6, 3]}));
  return figure({
    title: `Video memory by process: ${run.policy}`,
    about: `At the end of each ${formatDuration(bins.width_ns)}: bytes of BOs that have a handle. "Wanted": all BOs created for VRAM, wherever they are.`,
    datasets,
    scales: {x: time.axis(), y: valueAxis(`VRAM (${unit.name})`, {stacked: true, suggestedMax: most / unit.bytes})},
    lines: [{value: scenario.system.device.vram_bytes / unit.bytes, label: "size of VRAM"}],
    ...binTooltips(time, bins, item => `${significant(item.parsed.y)} ${unit.name}`),
    rows: binRows(time, bins, [...shown, {label: "wanted in VRAM", values: bins.demand}], formatBytes),
  });
}

function linkFigure(scenario, run, time, mostRate) {
  const bins = run.timeline.link, seconds = bins.width_ns / NS_PER_S, unit = byteUnit(mostRate);
  const series = [{label: "remote reads", color: "c4", values: bins.remote}, {label: "moved into VRAM", color: "c0", values: bins.moved_in},
    {label: "moved out of VRAM", color: "c3", values: bins.moved_out, out: true}];
  const rate = v => v / seconds / unit.bytes;
  const bandwidth = scenario.system.device.link_bandwidth;
  const nothing = !series.some(s => s.values.some(v => v));
  return figure({
    title: `Link traffic: ${run.policy}`,
    nothing: nothing ? "Nothing crossed the link." : "",
    about: `Read over the link: ${formatBytes(bins.remote_sum)} in place, ${formatBytes(bins.moved_in_sum)} moved; ${formatBytes(bins.moved_out_sum)} written the other way. ` +
      `Mean of each ${formatDuration(bins.width_ns)}; copies and remote reads do not slow each other down in the model, so their sum can exceed the bandwidth.`,
    datasets: series.map((s, i) => dataset(s.label, s.color, binPoints(time, bins, s.values.map(rate)),
      {fill: s.out ? false : i ? "stack" : "origin", stack: s.out ? "out" : "in", borderWidth: 1})),
    scales: {x: time.axis(), y: valueAxis(`over the link (${unit.name}/s)`, {stacked: true, suggestedMax: mostRate / unit.bytes})},
    lines: [{value: bandwidth / unit.bytes, label: "bandwidth, one way"}],
    ...binTooltips(time, bins, item => `${significant(item.parsed.y)} ${unit.name}/s`),
    rows: binRows(time, bins, series, v => formatRate(v / seconds)),
  });
}

function changesFigure(run, time, most) {
  const bins = run.timeline.changes;
  const series = [{label: "evicted for scanout", color: "c1", values: bins.scanout}, {label: "evicted for other processes", color: "c3", values: bins.others},
    {label: "evicted for its own process", color: "c7", values: bins.own}, {label: "moved back into VRAM", color: "c2", values: bins.back, back: true}];
  const nothing = !series.some(s => s.values.some(v => v));
  return figure({
    title: `Evictions and moves back: ${run.policy}`,
    nothing: nothing ? "Nothing was evicted, nothing moved back." : "",
    about: `BOs in each ${formatDuration(bins.width_ns)}: ${plural(bins.scanout_sum, "eviction")} for scanout, ${formatCount(bins.others_sum)} for other processes (or the system), ` +
      `${formatCount(bins.own_sum)} for the owner itself; ${plural(bins.back_sum, "move")} back, below the line.`,
    datasets: series.map((s, i) => dataset(s.label, s.color, binPoints(time, bins, s.values.map(v => s.back ? -v : v)),
      {stack: s.back ? "back" : "out", fill: i && !s.back ? "stack" : "origin", stepped: "middle", borderWidth: 1})),
    scales: {x: time.axis(), y: valueAxis("BOs", {stacked: true, suggestedMax: most.out, suggestedMin: -most.back,
      ticks: {maxTicksLimit: 6, precision: 0, callback: v => formatCount(Math.abs(v))}})},
    ...binTooltips(time, bins, item => formatCount(Math.abs(item.parsed.y))),
    rows: binRows(time, bins, series, formatCount),
  });
}

function phasesFigure(scenario, run, time) {
  const vms = run.timeline.phases.filter(v => v.intervals.length);
  const label = v => `${processName(scenario, v.process)}, VM ${v.vm}`;
  const bars = strong => vms.flatMap(v => v.intervals.filter(i => i[2] === strong).map(i =>
    ({x: [time.at(i[0]), time.at(i[1])], y: label(v)})));
  const left = vms.reduce((sum, v) => sum + v.left_out, 0);
  return figure({
    title: `Throttle phases: ${run.policy}`,
    nothing: vms.length ? "" : "No VM was throttled under this policy.",
    about: `Strong: nothing of the VM moves that is where it may be. Weak: it evicts nobody. ${left ? `${plural(left, "interval")} not drawn.` : ""}`,
    type: "bar", indexAxis: "y", height: 90 + 34 * vms.length,
    labels: vms.map(label),
    interaction: {mode: "nearest", axis: "xy", intersect: true},
    datasets: [dataset("strong phase", "c1", bars(true), {grouped: false, barThickness: 16}),
      dataset("weak phase", "c4", bars(false), {grouped: false, barThickness: 16})],
    scales: {x: time.axis(), y: {type: "category", offset: true, title: {display: false}, ticks: {autoSkip: false}}},
    tooltipTitle: items => items.length ? items[0].raw.y : "",
    tooltip: item => `${item.dataset.label}: ${significant3(item.raw.x[0])} to ${significant3(item.raw.x[1])} ${time.unit.name}`,
    words: [1, 2],
    rows: () => ({head: [`from (${time.unit.name})`, "VM", "phase", "for"],
      rows: vms.flatMap(v => v.intervals.map(i => ({at: time.at(i[0]), cells: [significant3(time.at(i[0])), label(v),
        i[2] ? "strong" : "weak", formatDuration(i[1] - i[0])]}))).sort((a, b) => a.at - b.at)}),
  });
}
