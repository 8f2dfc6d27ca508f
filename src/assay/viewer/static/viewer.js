// On every page: colours, keyboard, help. Other scripts use addShortcut and readData.
"use strict";

const THEMES = ["auto", "light", "dark"];

// Storage may be switched off; a choice then holds for one page.
function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {}
}

function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  if (!button) return;
  button.textContent = theme[0].toUpperCase() + theme.slice(1);
  button.setAttribute("aria-label", `Colours: ${theme}`);
}

function nextTheme() {
  const now = THEMES.indexOf(document.documentElement.dataset.theme);
  const theme = THEMES[(now + 1) % THEMES.length];
  applyTheme(theme);
  remember("assay-theme", theme);
}

// Returns the data of a <script type="application/json"> block.
function readData(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

const SHORTCUTS = new Map([
  ["?", () => document.getElementById("shortcuts").showModal()],
  ["d", nextTheme],
]);

// A link with data-key needs no call.
function addShortcut(key, action) {
  SHORTCUTS.set(key, action);
}

function isTyping(target) {
  return target instanceof Element && target.closest("input:not([type=radio], [type=checkbox]), select, textarea") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const link = /^[a-z]$/.test(event.key) && document.querySelector(`a[data-key="${event.key}"]`);
  const action = SHORTCUTS.get(event.key) ?? (link ? () => link.click() : null);
  if (!action) return;
  event.preventDefault();
  action(event);
});

applyTheme(THEMES.includes(recall("assay-theme")) ? recall("assay-theme") : "auto");
document.addEventListener("DOMContentLoaded", () => {
  applyTheme(document.documentElement.dataset.theme);
  document.getElementById("theme").addEventListener("click", nextTheme);
  document.getElementById("help").addEventListener("click", SHORTCUTS.get("?"));
});

// Long lines: wrapped, or as wide as the window. The choice holds on the next page.
function switchLines(name, isOn) {
  document.body.classList.toggle(name, isOn);
  for (const each of document.querySelectorAll(`[data-switch="${name}"]`)) each.setAttribute("aria-pressed", String(isOn));
  remember(`assay-${name}`, isOn ? "on" : "");
}

document.addEventListener("DOMContentLoaded", () => {
  for (const [key, name] of [["w", "wrap"], ["W", "full"]]) {
    const buttons = document.querySelectorAll(`[data-switch="${name}"]`);
    if (!buttons.length) continue;
    const toggle = () => switchLines(name, !document.body.classList.contains(name));
    switchLines(name, recall(`assay-${name}`) === "on");
    for (const each of buttons) each.addEventListener("click", toggle);
    addShortcut(key, toggle);
  }
});

// On paper nothing is folded.
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details:not([open])")) {
    each.dataset.folded = "";
    each.open = true;
  }
});
addEventListener("afterprint", () => {
  for (const each of document.querySelectorAll("details[data-folded]")) {
    delete each.dataset.folded;
    each.open = false;
  }
});
