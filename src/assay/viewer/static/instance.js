// The page of one instance: its neighbours as the table was filtered, folding, sections.
"use strict";

(() => {
  const neighbours = document.querySelector(".neighbours");

  // The table leaves the ids that it shows, in their order; without it the run's order stays.
  function useTableOrder() {
    let ids = null;
    try {
      ids = JSON.parse(sessionStorage.getItem(`assay-order:${neighbours.dataset.run}`));
    } catch {}
    const at = Array.isArray(ids) ? ids.indexOf(neighbours.dataset.id) : -1;
    if (at < 0) return;
    aim("previous", ids[at - 1]);
    aim("next", ids[at + 1]);
    const place = document.createElement("span");
    place.className = "quiet";
    place.textContent = `${(at + 1).toLocaleString("en")} of ${ids.length.toLocaleString("en")}`;
    neighbours.insertBefore(place, document.getElementById("next"));
  }

  function aim(link, id) {
    const element = document.getElementById(link);
    if (id === undefined) element.removeAttribute("href");
    else element.href = `${encodeURIComponent(id)}.html`;
  }

  function foldAll() {
    const all = [...document.querySelectorAll("main details")];
    const open = all.some((each) => !each.open);
    for (const each of all) each.open = open;
  }

  // A link to something inside a folded part opens it.
  function openTarget() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let each = target; each; each = each.parentElement) if (each instanceof HTMLDetailsElement) each.open = true;
    if (target) target.scrollIntoView();
  }

  useTableOrder();
  openTarget();
  addEventListener("hashchange", openTarget);
  addShortcut("j", () => document.getElementById("next").click());
  addShortcut("k", () => document.getElementById("previous").click());
  addShortcut("e", foldAll);
  document.querySelectorAll(".sections a").forEach((link, at) => {
    if (at < 9) addShortcut(String(at + 1), () => link.click());
  });
})();
