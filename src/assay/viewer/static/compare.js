// The table of instances and runs: filtered, sorted, and drawn some rows at a time.
"use strict";

const CHUNK = 100;
const WIDE = 6; // more runs than these get signs in place of words
const SIGNS = { resolved: "\u2713", unresolved: "\u2717" };
const matrix = document.getElementById("matrix") && readData("matrix-data");
const state = { show: "differ", q: "", sort: "", drawn: CHUNK };

const wins = (row, run) => row[run + 2] === "resolved";
const resolvers = (row) => row.slice(2).filter((outcome) => outcome === "resolved").length;

function isShown(row) {
  if (state.q && !`${row[0]} ${row[1]}`.toLowerCase().includes(state.q.toLowerCase())) return false;
  if (state.show === "all") return true;
  if (state.show === "none") return resolvers(row) === 0;
  const pair = /^(\d+)-(\d+)$/.exec(state.show);
  if (pair) return wins(row, Number(pair[1])) && !wins(row, Number(pair[2]));
  return resolvers(row) > 0 && resolvers(row) < matrix.runs.length;
}

function sorted(rows) {
  const [, column, way] = /^(\d+)(-?)$/.exec(state.sort) ?? [];
  if (column === undefined) return rows;
  const sign = way ? -1 : 1;
  return [...rows].sort((a, b) => sign * (a[column] < b[column] ? -1 : a[column] > b[column] ? 1 : 0));
}

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
}

function drawHead() {
  const line = document.createElement("tr");
  ["Instance", "Repository", ...matrix.runs].forEach((name, column) => {
    const head = element("th", "", { scope: "col" });
    const way = state.sort === `${column}` ? "ascending" : state.sort === `${column}-` ? "descending" : "none";
    head.setAttribute("aria-sort", way);
    const button = element("button", name, { type: "button", class: "sort" });
    button.addEventListener("click", () => {
      change({ sort: way === "ascending" ? `${column}-` : way === "descending" ? "" : `${column}` });
      document.querySelectorAll("#matrix thead button")[column].focus();
    });
    head.append(button);
    line.append(head);
  });
  document.querySelector("#matrix thead").replaceChildren(line);
}

const aim = (link, id) => link.replace(/ID\.html$/, `${encodeURIComponent(id)}.html`);

function drawRow(row) {
  const line = document.createElement("tr");
  const name = element("th", "", { scope: "row" });
  name.append(element("a", row[0], { href: aim(matrix.beside, row[0]) }));
  line.append(name, element("td", row[1]));
  matrix.runs.forEach((_run, number) => {
    const cell = document.createElement("td");
    const outcome = row[number + 2];
    const text = matrix.runs.length > WIDE ? (SIGNS[outcome] ?? "\u2013") : outcome;
    const href = aim(matrix.links[number], row[0]);
    cell.append(element("a", text, { class: `state ${outcome}`, href, title: outcome, "aria-label": outcome }));
    line.append(cell);
  });
  return line;
}

function draw() {
  const rows = sorted(matrix.rows.filter(isShown));
  drawHead();
  document.querySelector("#matrix tbody").replaceChildren(...rows.slice(0, state.drawn).map(drawRow));
  const count = document.getElementById("count");
  count.textContent = `${rows.length.toLocaleString("en")} of ${matrix.rows.length.toLocaleString("en")} ${matrix.rows.length === 1 ? "instance" : "instances"}`;
  document.getElementById("more").hidden = rows.length <= state.drawn;
}

function change(changes) {
  Object.assign(state, { drawn: CHUNK }, changes);
  const found = new URLSearchParams();
  if (state.show !== "differ") found.set("show", state.show);
  if (state.q) found.set("q", state.q);
  if (state.sort) found.set("sort", state.sort);
  history.replaceState(null, "", `#${found}`);
  draw();
}

function readAddress() {
  const found = new URLSearchParams(location.hash.slice(1));
  const show = document.getElementById("show");
  show.value = found.get("show") ?? "differ";
  if (show.selectedIndex < 0) show.value = "differ";
  Object.assign(state, { show: show.value, q: found.get("q") ?? "", sort: found.get("sort") ?? "", drawn: CHUNK });
  document.getElementById("filter").value = state.q;
  draw();
}

if (matrix) {
  document.getElementById("filter").addEventListener("input", (event) => change({ q: event.target.value }));
  document.getElementById("show").addEventListener("change", (event) => change({ show: event.target.value }));
  document.getElementById("more").addEventListener("click", () => {
    state.drawn += 5 * CHUNK;
    draw();
  });
  addEventListener("beforeprint", () => {
    state.drawn = Infinity;
    draw();
  });
  addEventListener("hashchange", () => {
    readAddress();
    document.getElementById("instances").scrollIntoView();
  });
  addShortcut("/", () => document.getElementById("filter").focus());
  addShortcut("x", () => {
    document.getElementById("show").value = state.show === "differ" ? "all" : "differ";
    change({ show: document.getElementById("show").value });
  });
  readAddress();
}
