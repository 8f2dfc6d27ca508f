// The overview of a run at work: what it does now, second by second.
"use strict";

(() => {
  const live = document.getElementById("live");
  if (!live) return;
  const events = new EventSource(live.dataset.events);
  const place = (name) => document.getElementById(`live-${name}`);

  function makeRow(cells) {
    const line = document.createElement("tr");
    cells.forEach((content, at) => {
      const cell = document.createElement(at ? "td" : "th");
      if (!at) cell.scope = "row";
      if (at === 2) cell.className = "number";
      cell.append(content);
      line.append(cell);
    });
    return line;
  }

  function makeBadge(id, outcome) {
    const badge = document.createElement("a");
    badge.className = `state ${outcome}`;
    badge.href = live.dataset.instances.replace(/ID\.html$/, `${encodeURIComponent(id)}.html`);
    badge.textContent = outcome;
    return badge;
  }

  events.addEventListener("message", (event) => {
    const now = JSON.parse(event.data);
    place("state").textContent = now.state;
    place("text").textContent = now.text;
    live.querySelector(".fill").setAttribute("width", String(100 * now.share));
    place("work").replaceChildren(...now.work.map(makeRow));
    place("latest").replaceChildren(...now.latest.map(([id, outcome]) => makeRow([id, makeBadge(id, outcome)])));
    place("more").hidden = !now.more;
    place("more").textContent = `${now.more} more are at work.`;
  });
  events.addEventListener("over", () => {
    events.close();
    location.reload(); // for the figures of the whole run
  });
})();
