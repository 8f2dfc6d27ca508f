# Runs test-unit files, prints every result and writes JUnit XML: test_unit.rb REPORT [FILE ...]; without files, all below
# test. ASSAY_TRIPWIRES is the path of a further file.
require "cgi"
require "test/unit"

REPORT = File.expand_path(ARGV.shift)
FILES = ARGV.slice!(0..)
OUTPUT = $stdout.dup
CASES = []

# Records every result, whatever runner a project uses.
module JUnitReport
  TAGS = { "Error" => "error", "Failure" => "failure", "Omission" => "skipped", "Pending" => "skipped" }.freeze
  CODES = { "error" => "E", "failure" => "F", "skipped" => "S", nil => "." }.freeze

  def run(result, *)
    before = result.faults.size
    super
  ensure
    tag = result.faults.drop(before).map { |each| TAGS[each.class.name[/\w+\z/]] }.compact.min
    title = local_name.delete_prefix("test: ")
    CASES << "<testcase classname=\"#{text(self.class.name)}\" name=\"#{text(title)}\">#{"<#{tag}/>" if tag}</testcase>\n"
    OUTPUT.syswrite("\n#{self.class.name}##{title.tr("\n", ' ')} = 0.00 s = #{CODES.fetch(tag)}\n")
  end

  private

  def text(name)
    CGI.escapeHTML(name.to_s.scrub.gsub(/[\x00-\x1f]/, " "))
  end
end

Test::Unit::TestCase.prepend(JUnitReport)
Test::Unit::AutoRunner.need_auto_run = false
$LOAD_PATH.unshift(File.expand_path("lib"), File.expand_path("test"))
FILES.concat(Dir["test/**/{test_*,*_test}.rb"].sort) if FILES.empty?
FILES << ENV["ASSAY_TRIPWIRES"] unless ENV["ASSAY_TRIPWIRES"].to_s.empty?
FILES.each { |file| require File.expand_path(file) }
passed = Test::Unit::AutoRunner.run(false)
File.write(REPORT, "<testsuites name=\"test-unit\">\n#{CASES.join}</testsuites>\n")
exit passed ? 0 : 1
