// SPDX-License-Identifier: MIT
// The life of one BO: where it was, and what put it there.

const LEVELS = {0: 0, 1: 1, 2: 2, 4: 3};
const LEVEL_NAMES = ["no memory", "SYSTEM", "GTT", "VRAM"];

function whyChanged(scenario, change, destroyedNs) {
  const [at, from, to, flags, process, forBo] = change;
  if (to === 0 && at === destroyedNs)
    return "destroyed";
  if (flags & 1) {
    const whose = processName(scenario, process);
    if (flags & 2)
      return `evicted in an operation of ${whose}, for scanout (BO ${forBo})`;
    return forBo ? `evicted in an operation of ${whose}, for BO ${forBo}` : `evicted in an operation of ${whose}`;
  }
  if (!from)
    return "placed for the first time";
  return `moved in an operation of ${processName(scenario, process)}`;
}

function lifePoints(life, time, endNs, shift) {
  const points = life.changes.map(c => ({x: time.at(c[0]), y: LEVELS[c[2]] + shift}));
  points.unshift({x: time.at(life.created_ns), y: shift});
  const last = points[points.length - 1];
  if (life.destroyed_ns === undefined && !life.left_out)
    points.push({x: time.at(endNs), y: last.y});
  return points;
}

function lifeFigure(scenario, tag, runs, colors, time) {
  const lives = runs.map(run => ({run, life: run.timeline.bos[tag]})).filter(l => l.life);
  const left = lives.filter(l => l.life.left_out).map(l =>
    `${l.run.policy}: ${plural(l.life.left_out, "later change")} not kept`);
  const shift = i => lives.length > 1 ? (i ? -0.07 : 0.07) : 0;
  return figure({
    title: `Where BO ${tag} is`,
    about: `Both policies at once, drawn a little apart. ${left.join("; ")}`,
    nothing: lives.length ? "" : "This BO is never created under these policies.",
    height: 210,
    datasets: lives.map((l, i) => dataset(l.run.policy, colors.get(l.run.policy), lifePoints(l.life, time, l.run.timeline.end_ns, shift(i)),
      {stepped: true, borderWidth: 2})),
    interaction: {mode: "nearest", axis: "x", intersect: false},
    scales: {x: time.axis(), y: {type: "linear", min: -0.3, max: 3.3, title: {display: true, text: "memory"}, afterBuildTicks: axis => {
      axis.ticks = [0, 1, 2, 3].map(value => ({value}));
    }, ticks: {callback: v => LEVEL_NAMES[v]}}},
    tooltipTitle: items => items.length ? `${significant3(items[0].parsed.x)} ${time.unit.name}` : "",
    tooltip: item => `${item.dataset.label}: ${LEVEL_NAMES[Math.round(item.parsed.y)]}`,
    words: [1, 2, 3, 4],
    rows: () => ({head: [`at (${time.unit.name})`, "policy", "from", "to", "why"],
      rows: lives.flatMap(l => l.life.changes.map(c => ({at: time.at(c[0]), cells: [significant3(time.at(c[0])), l.run.policy, DOMAINS[c[1]],
        DOMAINS[c[2]], whyChanged(scenario, c, l.life.destroyed_ns)]}))).sort((a, b) => a.at - b.at)}),
  });
}

function lifeFacts(scenario, tag, runs) {
  const lives = runs.map(run => ({run, life: run.timeline.bos[tag]})).filter(l => l.life);
  if (!lives.length)
    return el("p", {}, "Nothing is known of this BO.");
  const {life} = lives[0];
  const fact = (name, value) => [el("dt", {}, name), el("dd", {}, value)];
  const kinds = [life.flags & 1 ? "private to its VM" : "listed by submissions (shared, or could be)", life.flags & 2 ? "contiguous" : "",
    life.scanout ? "scanned out" : "", life.again ? "an earlier BO had the same tag; it is not shown" : ""].filter(k => k);
  return el("div", {},
    el("dl", {class: "facts"},
      fact("owner", processName(scenario, life.process)),
      fact("size", formatBytes(life.size_bytes)),
      fact("placed in", `prefers ${domainNames(life.preferred)}` + (life.allowed ? `, may be in ${domainNames(life.allowed)}` : "")),
      fact("priority", `${life.priority} of 0 to 15`),
      fact("kind", kinds.join(", ")),
      lives.map(l => fact(`evicted, ${l.run.policy}`, plural(l.life.evictions, "time")))),
    el("p", {class: "muted"}, "Every decision about it in words: ",
      el("code", {}, `vramlab explain ${scenario.file} ${tag} --policy ${lives[0].run.policy}${scenario.settings ? ` ${scenario.settings}` : ""}`)));
}

function boOptions(scenario) {
  return scenario.bos.map(tag => {
    const lives = scenario.runs.map(r => r.timeline.bos[tag]).filter(l => l);
    const evictions = lives.map(l => l.evictions);
    const range = lives.length ? `evicted ${Math.min(...evictions)} to ${Math.max(...evictions)} times` : "never created";
    return {value: String(tag), group: lives.length ? processName(scenario, lives[0].process) : "unknown",
      text: `BO ${tag}, ${lives.length ? formatBytes(lives[0].size_bytes) : "?"}, ${range}${lives.some(l => l.scanout) ? ", scanned out" : ""}`};
  });
}

function boSection(scenario) {
  if (!scenario.bos.length)
    return {element: el("p", {}, "No BO was evicted from VRAM under any of these policies."), draw: () => {}};
  const figures = el("div"), facts = el("div");
  let tag = String(scenario.bos[0]), last = null;
  const draw = (runs, colors, time) => {
    last = [runs, colors, time];
    replaceFigures(figures, time.follow([lifeFigure(scenario, tag, runs, colors, time)]));
    facts.replaceChildren(lifeFacts(scenario, tag, runs));
  };
  const more = scenario.bos_with_moves - scenario.bos.length;
  const element = el("div", {},
    el("p", {class: "muted"}, `${scenario.bos.length} of the ${formatCount(scenario.bos_with_moves)} BOs that were evicted under some policy, those that were evicted most. ` +
      (more > 0 ? "Others: --bo TAG." : "")),
    el("div", {class: "controls"}, chooser("BO", boOptions(scenario), tag, value => {
      tag = value;
      draw(...last);
    })), facts, figures);
  return {element, draw};
}
