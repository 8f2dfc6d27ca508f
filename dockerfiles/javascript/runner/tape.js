// Usage: ASSAY_TRIPWIRES=FILE node /opt/assay/tape.js REPORT FILE...
const results = require("./results");
const path = require("path");

const [report, ...files] = process.argv.slice(2);
const tests = new Map();
let number = 0;
const titles = (test) => (test ? [...titles(tests.get(test.parent)), test.name] : []);
const status = (test) => (test.skip || test.todo ? "pending" : test.failed || !test.ended ? "failed" : "passed");
const add = (test) => {
  const [all, is] = [titles(test), status(test)];
  results.add(all.slice(0, -1), test.name, is);
  const mark = is === "pending" ? " # SKIP" : "";
  results.print(`${is === "failed" ? "not ok" : "ok"} ${++number} - ${all.join("::")}${mark}`);
};
// At the end, since a test can fail after it ended. Tape ends the process in a listener of its own, which comes later.
process.on("exit", () => {
  tests.forEach(add);
  results.write(report);
});
const tape = require(require.resolve("tape", { paths: [process.cwd()] }));
tape.createStream({ objectMode: true }).on("data", (row) => {
  const test = tests.get(row.test);
  if (row.type === "test") tests.set(row.id, { ...row, failed: false, ended: false });
  else if (row.type === "assert") test.failed = test.failed || !(row.ok || row.todo);
  else if (row.type === "end") test.ended = true;
});
const more = results.tripwires ? [results.tripwires] : []; // after all other files
[...files, ...more].forEach((file) => require(path.resolve(file)));
