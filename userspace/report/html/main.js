// SPDX-License-Identifier: MIT
// The page: what it is and what it rests on, then the scenarios. Those that are folded up are drawn when they are opened.

Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;

function trust() {
  const policies = new Map(data.scenarios.flatMap(s => s.runs).map(r => [r.policy, r]));
  const names = checked => [...policies.values()].filter(r => r.checked === checked).map(r => r.policy).join(", ");
  const only = names(false);
  return el("div", {class: "trust"},
    el("div", {class: "card"}, el("p", {}, el("span", {class: "badge checked"}, "decisions: checked"),
      " Which BO is evicted, moved or left: ", el("code", {}, "vramlab conform"), ` runs the same workload on the model and on the real TTM and compares after every operation. That goes for ${names(true) || "none of the policies here"}.`),
      only ? el("p", {}, el("span", {class: "badge modelled"}, "model only"), ` No kernel that this was compared with does it: ${only}.`) : null),
    el("div", {class: "card"}, el("p", {}, el("span", {class: "badge modelled"}, "times: modelled"),
      " Frame times and traffic over time follow from bandwidths and hit rates of the scenario. Nothing is fitted, and no card was measured.")));
}

function head() {
  const policies = new Set(data.scenarios.flatMap(s => s.runs.map(r => r.policy)));
  const failed = data.scenarios.flatMap(s => s.runs).filter(r => r.failures.length).length;
  document.getElementById("head").append(
    el("h1", {}, `Video memory under pressure: ${data.scenarios.map(s => s.name).join(", ")}`),
    el("p", {class: "muted"}, `${plural(data.scenarios.length, "scenario")} under ${plural(policies.size, "policy", "policies")}, made by `, el("code", {}, data.command)),
    failed ? el("p", {}, el("span", {class: "badge failed"}, `invariants failed in ${plural(failed, "run")}`)) : "",
    trust());
}

function body() {
  const all = data.scenarios.map(scenarioElement);
  document.getElementById("scenarios").append(...all.map(s => s.details));
  all.forEach(s => s.fill());
  if (all.length < 2)
    return;
  document.getElementById("head").append(el("nav", {"aria-label": "Scenarios"}, el("ul", {}, data.scenarios.map((s, i) =>
    el("li", {}, el("a", {href: `#scenario-${i}`, onclick: () => {
      all[i].details.open = true;
    }}, s.name))))));
}

head();
body();
document.getElementById("foot").append(el("p", {class: "muted"}, data.provenance));
