// SPDX-License-Identifier: MIT
// Elements and numbers. Text only ever becomes text nodes: nothing of the data is parsed as HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const NS_PER_MS = 1e6, NS_PER_S = 1e9, MIB = 1048576;

// el("p", {class: "muted", onclick: f}, "text", element, ...); null and false among the children are left out.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on"))
      e.addEventListener(name.slice(2), value);
    else if (value === true)
      e.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      e.setAttribute(name, value);
  }
  e.append(...children.flat(Infinity).filter(c => c !== null && c !== false && c !== undefined));
  return e;
}

let lastId = 0;
function newId(prefix) {
  return `${prefix}-${++lastId}`;
}

function significant(v) {
  const a = Math.abs(v);
  return String(Number(v.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : 2)));
}

function formatCount(v) {
  return Number.isInteger(v) ? v.toLocaleString("en") : significant(v);
}

function formatBytes(v) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let u = 0;
  for (; Math.abs(v) >= 1024 && u + 1 < units.length; u++)
    v /= 1024;
  return `${significant(v)} ${units[u]}`;
}

function formatRate(bytesPerSecond) {
  return `${formatBytes(bytesPerSecond)}/s`;
}

function formatDuration(ns) {
  if (ns >= NS_PER_S)
    return `${significant(ns / NS_PER_S)} s`;
  if (ns >= NS_PER_MS)
    return `${significant(ns / NS_PER_MS)} ms`;
  return ns >= 1000 ? `${significant(ns / 1000)} µs` : `${ns} ns`;
}

// The unit of a time axis: the largest of which the run has at least two.
function timeUnit(endNs) {
  if (endNs >= 2 * NS_PER_S)
    return {name: "s", ns: NS_PER_S};
  return endNs >= 2 * NS_PER_MS ? {name: "ms", ns: NS_PER_MS} : {name: "µs", ns: 1000};
}

// For numbers of a byte axis: the unit fits the largest value.
function byteUnit(max) {
  const units = [["B", 1], ["KiB", 1024], ["MiB", MIB], ["GiB", 1024 * MIB], ["TiB", 1048576 * MIB]];
  const [name, bytes] = units.filter(([, b]) => max >= b).pop() || units[0];
  return {name, bytes};
}

function plural(n, one, many) {
  return `${formatCount(n)} ${n === 1 ? one : many || one + "s"}`;
}

const DOMAINS = {0: "no memory", 1: "SYSTEM", 2: "GTT", 4: "VRAM"};
function domainNames(mask) {
  return [4, 2, 1].filter(d => mask & d).map(d => DOMAINS[d]).join(" or ") || "none";
}

function processName(scenario, number) {
  if (!number)
    return "the system";
  const p = scenario.system.processes.find(q => q.process === number);
  return p && p.name ? p.name : `process ${number}`;
}

// A table that scrolls in its own box, which can be focused so that the arrow keys scroll it. rows: arrays of text,
// or {text, class}; the first of each is its heading. words: columns that hold words, not numbers.
function dataTable(caption, head, rows, words) {
  const cell = (tag, c, i, more) => {
    const attributes = {...more};
    const kind = [words && words.includes(i) ? "words" : "", c && c.class ? c.class : ""].join(" ").trim();
    if (kind)
      attributes.class = kind;
    return el(tag, attributes, c && typeof c === "object" && !(c instanceof Node) ? c.text : c);
  };
  return el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption},
    el("table", {}, el("caption", {}, el("span", {}, caption)),
      el("thead", {}, el("tr", {}, head.map((h, i) => cell("th", h, i, {scope: "col"})))),
      el("tbody", {}, rows.map(row => el("tr", {}, row.map((c, i) =>
        i ? cell("td", c, i, {}) : cell("th", c, i, {scope: "row"})))))));
}

// A <select> with its label; options: [{value, text, group}].
function chooser(label, options, value, onchange) {
  const select = el("select", {onchange: () => onchange(select.value)});
  const groups = new Map();
  for (const o of options) {
    let parent = select;
    if (o.group) {
      if (!groups.has(o.group))
        groups.set(o.group, select.appendChild(el("optgroup", {label: o.group})));
      parent = groups.get(o.group);
    }
    parent.append(el("option", {value: o.value}, o.text));
  }
  select.value = value;
  return el("label", {}, label, select);
}
