// Usage: ASSAY_REPORT=REPORT mocha --reporter /opt/assay/mocha.js
const results = require("./results");
const { reporters } = require("/opt/node/node_modules/mocha");

const { ASSAY_REPORT: report } = process.env;
const ended = results.guard(report);
const titles = (suite) => (suite.root ? [] : [...titles(suite.parent), suite.title]);

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const add = (status) => (test) => results.add(titles(test.parent), test.title, status, test.file);
    runner.on("pass", add("passed"));
    runner.on("pending", add("pending"));
    runner.on("fail", (test) => (test.type === "test" ? add("failed")(test) : results.error(test.fullTitle())));
  }

  done(failures, end) {
    ended();
    results.write(report);
    if (end) end(Math.min(failures, 1)); // the exit status
  }
};
