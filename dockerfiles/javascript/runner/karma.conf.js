// Usage: ASSAY_REPORT=REPORT ASSAY_TRIPWIRES=FILE ASSAY_KARMA=CONFIG karma start /opt/assay/karma.conf.js
const path = require("path");
const results = require("./results");

const { ASSAY_REPORT: report, ASSAY_KARMA: theirs = "karma.conf.js" } = process.env;
const hour = 3600 * 1000; // in milliseconds
const flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]; // a container lacks the rights for another sandbox
// A run that stopped at a failure would leave tests out, and tripwires are the last ones.
const ENDLESS = { failFast: false, stopOnSpecFailure: false };

function Reporter() {
  this.onSpecComplete = (browser, { suite, description, skipped, success }) =>
    results.add(suite, description, skipped ? "pending" : success ? "passed" : "failed");
  this.onBrowserError = () => results.error("browser");
  this.onRunComplete = () => results.write(report);
}

module.exports = (config) => {
  const file = path.resolve(theirs);
  const configure = require(file);
  const steer = () => {
    const { jasmine, mocha } = config.client || {};
    config.set({
      basePath: path.resolve(path.dirname(file), config.basePath || ""),
      browsers: ["Headless"],
      customLaunchers: { Headless: { base: "ChromeHeadless", flags } },
      client: { ...config.client, jasmine: { ...jasmine, ...ENDLESS }, mocha: { ...mocha, bail: false } },
      files: [...(config.files || []), ...(results.tripwires ? [results.tripwires] : [])],
      plugins: [...(config.plugins || ["karma-*"]), { "reporter:assay": ["type", Reporter] }],
      reporters: ["dots", "assay"],
      singleRun: true,
      autoWatch: false,
      // Only the harness limits the time: a busy machine is no failure.
      captureTimeout: hour,
      browserNoActivityTimeout: hour,
    });
  };
  const configured = (configure.default || configure)(config);
  return configured && configured.then ? configured.then(steer) : steer();
};
