// Pages with steps: j and k go from one to the next, each has an address of its own.
"use strict";

const steps = [...document.querySelectorAll(".step")];

function currentStep() {
  return steps.findIndex((step) => `#${step.id}` === location.hash);
}

function firstInView() {
  return Math.max(0, steps.findIndex((step) => step.getBoundingClientRect().bottom > 80));
}

function goTo(index) {
  const step = steps[Math.min(Math.max(index, 0), steps.length - 1)];
  if (!step) return;
  location.replace(`#${step.id}`); // an address to pass on, and no entry in the history for each key
  step.focus({ preventScroll: true });
}

function fold(within, isOpen) {
  within.querySelectorAll("details.fold").forEach((each) => {
    each.open = isOpen;
  });
}

function toggle(within) {
  const first = within?.querySelector("details.fold");
  if (first) fold(within, !first.open);
}

addShortcut("j", () => goTo(currentStep() < 0 ? firstInView() : currentStep() + 1));
addShortcut("k", () => goTo(currentStep() < 0 ? firstInView() : currentStep() - 1));
addShortcut("g", () => goTo(0));
addShortcut("G", () => goTo(steps.length - 1));
addShortcut("e", () => toggle(steps[currentStep() < 0 ? firstInView() : currentStep()]));
addShortcut("E", () => toggle(document.querySelector(".steps")));

// A bar of a picture goes to its step; the keyboard has j and k, and the step's own link.
document.querySelectorAll("rect[data-step]").forEach((bar) => {
  const step = document.getElementById(`step-${bar.dataset.step}`)?.closest(".step");
  bar.addEventListener("click", () => goTo(steps.indexOf(step)));
});
