// SPDX-License-Identifier: MIT
// One scenario: what it is, policies side by side, two of them over time, a BO, all metrics.

function factsOf(scenario) {
  const d = scenario.system.device;
  const fact = (name, value) => value ? [el("dt", {}, name), el("dd", {}, value)] : [];
  const cgroups = scenario.system.cgroups.map(c => `${c.path}: ` + [c.min_bytes ? `min ${formatBytes(c.min_bytes)}` : "",
    c.low_bytes ? `low ${formatBytes(c.low_bytes)}` : "", c.max_bytes !== undefined ? `max ${formatBytes(c.max_bytes)}` : ""].filter(w => w).join(", "))
    .map(w => w.endsWith(": ") ? `${w}no limits` : w);
  const link = /^https?:\/\//.test(scenario.url) ? el("a", {href: scenario.url, rel: "noreferrer"}, scenario.url) : scenario.url;
  return el("dl", {class: "facts"},
    fact("file", el("code", {}, scenario.file)), fact("seed", String(scenario.seed)), fact("settings", scenario.settings && el("code", {}, scenario.settings)),
    fact("VRAM", `${formatBytes(d.vram_bytes)} at ${formatRate(d.vram_bandwidth)}`),
    fact("system memory (GTT)", formatBytes(d.gtt_bytes)),
    fact("link", `${formatRate(d.link_bandwidth)} each way, ${formatDuration(d.copy_latency_ns)} more a copy`),
    fact("jobs", d.overlap ? "compute and read VRAM and the link at the same time" : "compute, then read VRAM, then the link"),
    fact("move budget", `${formatBytes(2 ** d.log2_max_mbps * MIB)}/s`),
    fact("processes", scenario.system.processes.map(p => processName(scenario, p.process) + (p.cgroup ? ` (cgroup ${p.cgroup})` : "")).join(", ")),
    fact("cgroups", cgroups.join("; ")),
    fact("reported", scenario.reported), fact("where", link), fact("chosen here", scenario.chosen));
}

// The process that a reader is after: of those with frames the one with most memory.
function mainProcess(scenario) {
  const memory = p => Math.max(...scenario.runs.map(r => metricOf(r, p, "vram_bytes_end") + metricOf(r, p, "outside_bytes_end")));
  const all = scenario.system.processes.map(p => String(p.process));
  const framed = all.filter(p => scenario.runs.some(r => metricOf(r, p, "frames")));
  return (framed.length ? framed : all).reduce((a, b) => memory(b) > memory(a) ? b : a, (framed.length ? framed : all)[0] || "0");
}

function processOptions(scenario, withTotal) {
  const options = scenario.system.processes.map(p => ({value: String(p.process), text: processName(scenario, p.process)}));
  return withTotal ? [{value: "0", text: "all together"}, ...options] : options;
}

function sideBySide(scenario, process) {
  const box = el("div");
  const draw = p => replaceFigures(box, [overviewTable(scenario, p), policyWords(scenario),
    el("div", {class: "pair"}, frameBars(scenario, p), linkBars(scenario, p))]);
  draw(process);
  return [el("h3", {}, "Policies side by side"),
    el("div", {class: "controls"}, chooser("Process", processOptions(scenario, true), process, draw)), failureNote(scenario), box].filter(e => e);
}

function timeControls(time) {
  const inUnit = ns => significant3(ns / time.unit.ns);
  const input = label => el("input", {type: "number", min: 0, step: "any", "aria-label": `${label} (${time.unit.name})`});
  const from = input("From"), to = input("to");
  const show = (begin, end) => {
    time.show(begin, end);
    from.value = inUnit(time.begin);
    to.value = inUnit(time.end);
  };
  const typed = () => {
    if (from.value !== "" && to.value !== "")
      show(Number(from.value) * time.unit.ns, Number(to.value) * time.unit.ns);
  };
  from.addEventListener("change", typed);
  to.addEventListener("change", typed);
  const move = share => {
    const length = time.end - time.begin, begin = Math.max(0, Math.min(time.endNs - length, time.begin + share * length));
    show(begin, begin + length);
  };
  const zoom = factor => {
    const middle = (time.begin + time.end) / 2, half = (time.end - time.begin) / 2 * factor;
    show(middle - half, middle + half);
  };
  show(0, time.endNs);
  const button = (text, action) => el("button", {type: "button", onclick: action}, text);
  return [el("label", {}, `From (${time.unit.name})`, from), el("label", {}, `to (${time.unit.name})`, to),
    button("Earlier", () => move(-0.5)), button("Later", () => move(0.5)), button("Zoom in", () => zoom(0.5)),
    button("Zoom out", () => zoom(2)), button("Whole run", () => show(0, time.endNs))];
}

// Two policies beside each other, on the same axes.
function overTime(scenario, process) {
  const endNs = Math.max(...scenario.runs.map(r => r.timeline.end_ns));
  const time = new TimeWindow(endNs), bo = boSection(scenario);
  const frames = el("div"), pair = el("div", {class: "pair"});
  const has = name => scenario.runs.find(r => r.policy === name);
  let first = scenario.runs[0].policy, frameProcess = process;
  let second = (has("patched") || scenario.runs[scenario.runs.length - 1]).policy;
  const draw = () => {
    const runs = [...new Set([first, second])].map(name => scenario.runs.find(r => r.policy === name));
    const colors = new Map(runs.map((r, i) => [r.policy, seriesColor(i)]));
    const max = values => values.reduce((a, b) => Math.max(a, b), 0);
    const most = Math.max(scenario.system.device.vram_bytes, ...runs.map(r => max(r.timeline.vram.demand)));
    const link = r => r.timeline.link, changes = r => r.timeline.changes;
    const rate = max(runs.flatMap(r => link(r).remote.map((v, i) => (v + link(r).moved_in[i]) / (link(r).width_ns / NS_PER_S))));
    const counts = {out: max(runs.flatMap(r => changes(r).scanout.map((v, i) => v + changes(r).others[i] + changes(r).own[i]))),
      back: max(runs.flatMap(r => changes(r).back))};
    replaceFigures(frames, time.follow([frameFigure(scenario, runs, colors, frameProcess, time)]));
    const rows = [r => vramFigure(scenario, r, time, most), r => linkFigure(scenario, r, time, Math.max(rate, scenario.system.device.link_bandwidth)),
      r => changesFigure(r, time, counts), r => phasesFigure(scenario, r, time)];
    pair.style.gridTemplateColumns = runs.length > 1 ? "" : "minmax(0, 1fr)";
    replaceFigures(pair, time.follow(rows.flatMap(row => runs.map(row))));
    bo.draw(runs, colors, time);
  };
  const policies = scenario.runs.map(r => ({value: r.policy, text: r.policy}));
  const choose = set => value => {
    set(value);
    draw();
  };
  const controls = el("div", {class: "controls sticky"},
    chooser("First policy", policies, first, choose(v => { first = v; })),
    chooser("Second policy", policies, second, choose(v => { second = v; })),
    chooser("Frame times of", processOptions(scenario, false), frameProcess, choose(v => { frameProcess = v; })),
    timeControls(time));
  draw();
  return [el("h3", {}, "Over time"), controls, frames, pair, el("h3", {}, "The life of a BO"), bo.element];
}

function allMetrics(scenario) {
  const box = el("div");
  let process = "0", zeros = false;
  const draw = () => box.replaceChildren(metricTable(scenario, process, zeros));
  draw();
  const tick = el("input", {type: "checkbox", onchange: () => {
    zeros = tick.checked;
    draw();
  }});
  return [el("h3", {}, "All metrics"), el("div", {class: "controls"},
    chooser("Process", processOptions(scenario, true), process, value => {
      process = value;
      draw();
    }), el("label", {class: "tick"}, tick, "rows that are 0 everywhere too")), box, pingPongTable(scenario)];
}

function failuresOf(scenario) {
  const rows = scenario.runs.flatMap(r => r.failures.map(f => el("li", {}, `${r.policy}: ${f}`)));
  return rows.length ? el("div", {class: "card"}, el("p", {}, el("span", {class: "badge failed"}, "invariants failed"), " The runs of these policies are not to be trusted:"),
    el("ul", {}, rows)) : null;
}

function scenarioElement(scenario, index) {
  const box = el("div");
  const details = el("details", {class: "scenario", id: `scenario-${index}`, open: index === 0},
    el("summary", {}, el("h2", {}, scenario.name), scenario.description ? ` ${scenario.description}` : ""), box);
  const fill = () => {
    if (!details.open || box.firstChild)
      return;
    const process = mainProcess(scenario);
    box.append(...[failuresOf(scenario), el("details", {}, el("summary", {}, "Device, programs, seed, and where the scenario comes from"), factsOf(scenario)),
      ...sideBySide(scenario, process), ...overTime(scenario, process), ...allMetrics(scenario),
      el("h3", {}, "Not drawn, or not in full"), droppedList(scenario)].filter(e => e));
  };
  details.addEventListener("toggle", fill);
  return {details, fill};
}
