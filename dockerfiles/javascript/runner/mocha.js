// Usage: ASSAY_REPORT=REPORT ASSAY_TRIPWIRES=FILE mocha --reporter /opt/assay/mocha.js
const results = require("./results");
const { reporters } = require(require.resolve("mocha", { paths: ["/opt/node", process.cwd()] }));

const { ASSAY_REPORT: report } = process.env;
const titles = (suite) => (suite.root ? [] : [...titles(suite.parent), suite.title]);
const runToTheEnd = (suite) => {
  suite.bail(false);
  suite.suites.forEach(runToTheEnd);
};

reporters.Base.consoleLog = results.print;

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const add = (status) => (test) => results.add(titles(test.parent), test.title, status, test.file);
    runner.on("pass", add("passed"));
    runner.on("pending", add("pending"));
    runner.on("fail", (test) => (test.type === "test" ? add("failed")(test) : results.error(test.fullTitle())));
    if (results.tripwires) require(results.tripwires); // all other files are loaded
    runToTheEnd(runner.suite);
  }

  done(failures, end) {
    results.write(report);
    if (end) end(Math.min(failures, 1)); // the exit status
  }
};
