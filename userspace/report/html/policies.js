// SPDX-License-Identifier: MIT
// Policies side by side: what each made of frame times and of the link.

const metricIndex = new Map(data.metrics.map((m, i) => [m.name, i]));

// null: there is no such metric for the process.
function metricOf(run, process, name) {
  return run.metrics[process].values[metricIndex.get(name)];
}

function metricText(run, process, name) {
  return run.metrics[process].texts[metricIndex.get(name)];
}

// Bars, a row a policy; series: [{label, color, name, scale, stack}].
function policyBars(scenario, process, o) {
  const runs = scenario.runs;
  return figure({
    title: o.title, about: o.about, nothing: o.nothing,
    type: "bar", indexAxis: "y", height: 84 + runs.length * (o.stacked ? 26 : 32),
    labels: runs.map(r => r.policy),
    cursorAxis: "y",
    datasets: o.series.map(s => dataset(s.label, s.color, runs.map(r => metricOf(r, process, s.name) / o.scale),
      {stack: s.stack, barPercentage: 0.9, categoryPercentage: 0.8})),
    scales: {x: valueAxis(o.axis, {stacked: o.stacked, suggestedMax: o.suggestedMax}), y: {type: "category", stacked: o.stacked, ticks: {autoSkip: false}}},
    lines: o.lines.map(l => ({...l, axis: "x"})),
    tooltipTitle: items => items.length ? items[0].label : "",
    tooltip: item => `${item.dataset.label}: ${metricText(runs[item.dataIndex], process, o.series[item.datasetIndex].name)}`,
    rows: () => ({head: ["policy", ...o.series.map(s => s.label)],
      rows: runs.map(r => ({at: r.policy, cells: [r.policy, ...o.series.map(s => metricText(r, process, s.name))]}))}),
  });
}

function frameBars(scenario, process) {
  const any = scenario.runs.some(r => metricOf(r, process, "frames"));
  const most = Math.max(...scenario.runs.map(r => metricOf(r, process, "frame_time_p99_ms")));
  return policyBars(scenario, process, {
    title: "Frame time", axis: "frame time (ms), less is better", scale: 1, nothing: any ? "" : "No frame was finished.",
    about: "Average of all frames, and the time that 99 % of them do not exceed. Modelled.",
    series: [{label: "average", color: "c0", name: "frame_time_avg_ms"}, {label: "99th percentile", color: "c5", name: "frame_time_p99_ms"}],
    lines: [{value: 1000 / 60, label: "60/s"}, ...(most > 25 ? [{value: 1000 / 30, label: "30/s"}] : [])],
  });
}

function linkBars(scenario, process) {
  const names = ["remote_bytes_per_frame", "moved_in_bytes_per_frame", "moved_out_bytes_per_frame"];
  const most = Math.max(...scenario.runs.flatMap(r => names.map(n => metricOf(r, process, n))));
  const unit = byteUnit(most);
  const bandwidth = scenario.system.device.link_bandwidth;
  return policyBars(scenario, process, {
    title: "Bytes over the link, a frame", axis: `${unit.name} a frame, less is better`, scale: unit.bytes, stacked: true,
    nothing: most ? "" : "Nothing crossed the link in any frame.",
    about: `Moves and remote reads in place; out of VRAM is the link's other direction. At ${formatRate(bandwidth)} the link carries ` +
      `${formatBytes(bandwidth / 60)} in a 60th of a second.`,
    series: [{label: "remote reads", color: "c4", name: names[0], stack: "in"}, {label: "moved in", color: "c0", name: names[1], stack: "in"},
      {label: "moved out", color: "c3", name: names[2], stack: "out"}],
    lines: [{value: bandwidth / 60 / unit.bytes, label: "60/s"}, {value: bandwidth / 30 / unit.bytes, label: "30/s"}],
  });
}

function decisionsBadge(run) {
  return run.checked ? el("span", {class: "badge checked"}, "checked") : el("span", {class: "badge modelled"}, "model only");
}

function overviewTable(scenario, process) {
  const failures = r => metricOf(r, process, "failed_submissions") + metricOf(r, process, "failed_operations");
  const columns = [["frames", "frames"], ["average", "frame_time_avg_ms"], ["p99", "frame_time_p99_ms"], ["longest", "frame_time_max_ms"],
    ["evictions", "evictions"], ["link/frame", "link_read_bytes_per_frame"],
    ["back in 1 s", "reversals_1s"]];
  // Of the whole run, whichever process is shown: what one had to read depends on the others.
  const bounds = (scenario.runs.find(r => r.bounds.length) || {bounds: []}).bounds.map(b => b[0]);
  return dataTable("Policies side by side; decisions are checked against the kernel, or the model's alone; link/frame: bytes read over the link, by moves and remotely" +
    (bounds.length ? "; x lower: of all processes, beside the least that any policy could have caused that knew the future (-: that is 0)" : ""),
    ["policy", "decisions", "failed", ...columns.map(c => c[0]), ...bounds],
    scenario.runs.map(r => [r.policy, decisionsBadge(r), {text: formatCount(failures(r)), class: failures(r) ? "worst" : ""},
      ...columns.map(([, name]) => metricText(r, process, name)), ...bounds.map((_, i) => r.bounds.length ? r.bounds[i][1] : "-")]), [1]);
}

// What a reader of the bars must know: who did less because something failed.
function failureNote(scenario) {
  const words = scenario.runs.map(r => {
    const what = [[metricOf(r, "0", "failed_submissions"), "submission"], [metricOf(r, "0", "failed_flips"), "flip"],
      [metricOf(r, "0", "failed_creates"), "creation"]].filter(([n]) => n).map(([n, name]) => plural(n, name));
    return what.length ? `${r.policy}: ${what.join(", ")}` : "";
  }).filter(w => w);
  return words.length ? el("p", {}, el("span", {class: "badge failed"}, "operations failed"),
    ` What fails costs no time, so frame times alone mislead here. ${words.join("; ")}.`) : null;
}

function policyWords(scenario) {
  return el("details", {}, el("summary", {}, "What the policies do"),
    el("dl", {class: "facts"}, scenario.runs.map(r => [el("dt", {}, r.policy), el("dd", {}, r.description)])));
}
