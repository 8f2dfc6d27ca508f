# Puts the packages where node looks for them: links, so that instances share them.
(cd /opt/node && find . -name node_modules -prune) | while read -r folder; do
    [ -e "$folder" ] || { mkdir -p "$(dirname "$folder")" && ln -s "/opt/node/${folder#./}" "$folder"; }
done

# What reports for runners that do not do it well by themselves, in the form of jest's report. Patches cannot reach it.
mkdir -p /opt/assay
cat > /opt/assay/results.js <<'END'
const { unlinkSync, writeFileSync } = require("fs");

const files = {};
const errors = [];

// Takes a report away that is there although the runner has not come to its end: a test wrote it and left.
exports.guard = (report) => {
  const exit = process.reallyExit;
  let ended = false;
  process.reallyExit = (...status) => {
    try {
      if (!ended) unlinkSync(report);
    } catch {}
    exit.apply(process, status);
  };
  return () => void (ended = true);
};
exports.add = (suites, title, status, file = "") =>
  (files[file] = files[file] || []).push({ ancestorTitles: suites, title, status });
exports.error = (where) => errors.push({ name: where, status: "failed", assertionResults: [] });
exports.write = (report) => {
  const told = Object.entries(files).map(([name, assertionResults]) => ({ name, status: "", assertionResults }));
  writeFileSync(report, JSON.stringify({ testResults: [...told, ...errors] }));
};
END
# Usage: jest --json --outputFile=REPORT --reporters=default --reporters=/opt/assay/jest.js
cat > /opt/assay/jest.js <<'END'
const results = require("./results");

module.exports = class {
  constructor({ outputFile }) {
    this.end = results.guard(outputFile);
  }

  onRunComplete() {
    this.end();
  }
};
END
# Usage: ASSAY_REPORT=REPORT mocha --reporter /opt/assay/mocha.js
cat > /opt/assay/mocha.js <<'END'
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
    if (end) end(Math.min(failures, 1)); // which would be the exit status
  }
};
END
# Usage: node /opt/assay/jasmine.js REPORT CONFIG [FILE...]
cat > /opt/assay/jasmine.js <<'END'
const results = require("./results");

const [report, config, ...files] = process.argv.slice(2);
const Jasmine = require("/opt/node/node_modules/jasmine");
const ended = results.guard(report);
const runner = new Jasmine({ projectBaseDir: process.cwd() });
const suites = [];
const thrown = (where, of) => (of && of.failedExpectations || []).forEach(() => results.error(where));

runner.loadConfigFile(config);
runner.seed("1");
runner.env.addReporter({
  suiteStarted: (suite) => void suites.push(suite.description),
  suiteDone(suite) {
    thrown(suites.join(" "), suite);
    suites.pop();
  },
  specDone: (spec) => void results.add([...suites], spec.description, spec.status === "excluded" ? "pending" : spec.status),
  jasmineDone(all) {
    thrown("jasmine", all);
    ended();
    results.write(report);
  },
});
// Specs that fail are an ordinary end; a run that was cut off is none, and keeps its 2.
process.on("exit", (status) => void (process.exitCode = status === 3 ? 1 : status));
runner.execute(files.length ? files : undefined);
END
# Usage: ASSAY_REPORT=REPORT ASSAY_KARMA=CONFIG karma start /opt/assay/karma.conf.js
cat > /opt/assay/karma.conf.js <<'END'
const path = require("path");
const results = require("./results");

const { ASSAY_REPORT: report, ASSAY_KARMA: theirs = "karma.conf.js" } = process.env;
const flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]; // a box has no rights for another sandbox

function Reporter() {
  this.onSpecComplete = (browser, { suite, description, skipped, success }) =>
    results.add(suite, description, skipped ? "pending" : success ? "passed" : "failed");
  this.onBrowserError = () => results.error("browser");
  this.onRunComplete = () => results.write(report);
}

module.exports = (config) => {
  const file = path.resolve(theirs);
  const configure = require(file);
  (configure.default || configure)(config);
  config.set({
    basePath: path.resolve(path.dirname(file), config.basePath || ""),
    browsers: ["Headless"],
    customLaunchers: { Headless: { base: "ChromeHeadless", flags } },
    plugins: [...(config.plugins || ["karma-*"]), { "reporter:assay": ["type", Reporter] }],
    reporters: ["dots", "assay"],
    singleRun: true,
    autoWatch: false,
  });
};
END

if [ -e /build/commands.sh ]; then
    PATH="/testbed/node_modules/.bin:$PATH" sh -eu /build/commands.sh
fi
