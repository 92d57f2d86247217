// SPDX-License-Identifier: MIT
// Colours come from the style sheet, so that charts follow the light or dark theme as the rest does.

const COLORS = 8;
const charts = new Set();

function themeColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function seriesColor(i) {
  return `c${i % COLORS}`;
}

function transparent(color, alpha) {
  const n = parseInt(color.slice(1), 16);
  return `rgba(${n >> 16 & 255}, ${n >> 8 & 255}, ${n & 255}, ${alpha})`;
}

function paintChart(chart) {
  for (const d of chart.data.datasets) {
    const color = themeColor(d.themeColor);
    d.borderColor = color;
    d.backgroundColor = d.fill || chart.config.type === "bar" ? transparent(color, d.fill ? 0.55 : 0.85) : color;
  }
  for (const scale of Object.values(chart.options.scales)) {
    scale.grid = {...scale.grid, color: themeColor("grid"), borderColor: themeColor("line")};
    scale.ticks = {...scale.ticks, color: themeColor("muted")};
    scale.title = {...scale.title, color: themeColor("muted")};
  }
}

function repaintAll() {
  for (const chart of charts) {
    paintChart(chart);
    chart.update("none");
  }
  for (const swatch of document.querySelectorAll(".swatch"))
    swatch.style.background = themeColor(swatch.dataset.color);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaintAll);
