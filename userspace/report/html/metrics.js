// SPDX-License-Identifier: MIT
// Every metric of every policy.

function metricTable(scenario, process, withZeros) {
  const best = {frame_time_avg_ms: 1, frame_time_p50_ms: 1, frame_time_p99_ms: 1, frame_time_max_ms: 1, link_read_bytes_per_frame: 1,
    failed_submissions: 1, failed_operations: 1, ping_pong_round_trips: 1};
  const whole = scenario.runs.map(r => !metricOf(r, "0", "failed_submissions") && !metricOf(r, "0", "failed_operations"));
  let hidden = 0;
  const rows = [];
  data.metrics.forEach((metric, i) => {
    const values = scenario.runs.map(r => r.metrics[process].values[i]);
    if (values.every(v => v === null))
      return;
    if (!withZeros && values.every(v => !v)) {
      hidden++;
      return;
    }
    const least = Math.min(...values.filter((_, n) => whole[n]));
    const mark = best[metric.name] && scenario.runs.length > 1 && values.some(v => v !== least);
    rows.push([metric.name, ...scenario.runs.map((r, n) =>
      ({text: r.metrics[process].texts[i], class: mark && whole[n] && values[n] === least ? "best" : ""}))]);
  });
  const whose = Number(process) ? processName(scenario, Number(process)) : "all processes together";
  const caption = `Metrics of ${whose}` + (hidden ? `; ${plural(hidden, "row")} hidden that ${hidden === 1 ? "is" : "are"} 0 everywhere` : "") + ". Green: least, of the policies under which nothing failed.";
  return dataTable(caption, ["metric", ...scenario.runs.map(r => r.policy)], rows);
}

function pingPongTable(scenario) {
  const rows = scenario.runs.flatMap(r => r.ping_pong.map(p => [r.policy, p.owner, p.evicted_for, p.scanout ? "scanout" : "other BOs",
    formatCount(p.bos), formatCount(p.round_trips), formatBytes(p.moved_bytes)]));
  if (!rows.length)
    return el("p", {}, "No BO ping-pongs under any of these policies.");
  return dataTable("Ping-pong: BOs evicted for another process and back within a second, at least twice",
    ["policy", "BOs of", "evicted for", "because of", "BOs", "round trips", "moved"], rows, [1, 2, 3]);
}

// What is not drawn, or not in full.
function droppedList(scenario) {
  const items = [];
  for (const run of scenario.runs) {
    const t = run.timeline, d = t.dropped;
    for (const [process, f] of Object.entries(t.frames))
      if (f.stride > 1)
        items.push(`${run.policy}: of ${formatCount(f.frames)} frames of ${processName(scenario, Number(process))} each point is the longest of ${f.stride}.`);
    if (d.cut_jobs)
      items.push(`${run.policy}: ${plural(d.cut_jobs, "job")} under way when the run ended; ${formatBytes(d.cut_bytes)} over the link not drawn.`);
    if (d.unknown_copies)
      items.push(`${run.policy}: ${plural(d.unknown_copies, "copy", "copies")} of unknown direction, not drawn.`);
    if (d.changes)
      items.push(`${run.policy}: ${plural(d.changes, "change")} of placement of single BOs not kept.`);
    const left = t.phases.reduce((sum, v) => sum + v.left_out, 0);
    if (left)
      items.push(`${run.policy}: ${plural(left, "throttle interval")} not kept.`);
  }
  const more = scenario.bos_with_moves - scenario.bos.length;
  if (more > 0)
    items.push(`Lives of ${formatCount(more)} BOs that were evicted less often than those to choose from.`);
  const bins = scenario.runs[0].timeline;
  items.push(`Amounts over time are summed up in at most 400 steps (here of ${formatDuration(bins.link.width_ns)}); sums are exact.`);
  return el("ul", {class: "dropped"}, items.map(i => el("li", {}, i)));
}
