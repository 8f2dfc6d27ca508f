// A question for a person: digits answer the marked group of choices, and mark the next one.
"use strict";

(() => {
  const form = document.getElementById("answer");
  const groups = [...form.querySelectorAll("fieldset")];

  function isAnswered(group) {
    return group.querySelector("input:checked") !== null;
  }

  function findMarked() {
    const focused = document.activeElement?.closest("#answer fieldset");
    return focused ?? groups.find((group) => !isAnswered(group)) ?? groups[0];
  }

  function answer(digit) {
    const group = findMarked();
    const choice = group.querySelector(`input[data-digit="${digit}"]`);
    if (!choice) return;
    choice.checked = true;
    (groups[groups.indexOf(group) + 1] ?? form.querySelector("button")).focus();
  }

  for (const digit of "0123456789") addShortcut(digit, () => answer(digit));
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target instanceof HTMLFieldSetElement) form.requestSubmit();
  });
  groups.find((group) => !isAnswered(group))?.focus({ preventScroll: true });
})();
