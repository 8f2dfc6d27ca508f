# Runs minitest files, prints every result and writes JUnit XML: minitest.rb REPORT [FILE ...]; without files, all below
# test, or else spec. ASSAY_TRIPWIRES is the path of a further file.
require "cgi"
require "minitest"

REPORT = File.expand_path(ARGV.shift)
FILES = ARGV.slice!(0..)
OUTPUT = $stdout.dup

# Records every result, whatever reporters a project uses.
module JUnitReport
  CHILDREN = { Minitest::Skip => "skipped", Minitest::UnexpectedError => "error" }.freeze

  def record(result)
    (@cases ||= []) << testcase(result)
    OUTPUT.syswrite("\n#{owner(result)}##{result.name} = 0.00 s = #{result.result_code}\n")
    super
  end

  def report
    File.write(REPORT, "<testsuites name=\"minitest\">\n#{(@cases || []).join}</testsuites>\n")
    super
  end

  private

  def testcase(result)
    children = result.failures.map { |each| "<#{CHILDREN.fetch(each.class, 'failure')}/>" }.join
    "<testcase classname=\"#{text(owner(result))}\" name=\"#{text(result.name)}\">#{children}</testcase>\n"
  end

  def owner(result)
    result.respond_to?(:klass) ? result.klass : result.class.name
  end

  def text(name)
    CGI.escapeHTML(name.to_s.scrub.gsub(/[\x00-\x1f]/, " ").delete_suffix(". ")) # shoulda ends every name so
  end
end

Minitest::CompositeReporter.prepend(JUnitReport)
$LOAD_PATH.unshift(*%w[lib test spec].map { |folder| File.expand_path(folder) })
require "minitest/autorun"
FILES.concat(Dir["test/**/{test_*,*_test}.rb"].sort) if FILES.empty?
FILES.concat(Dir["spec/**/*_spec.rb"].sort) if FILES.empty?
FILES << ENV["ASSAY_TRIPWIRES"] unless ENV["ASSAY_TRIPWIRES"].to_s.empty?
FILES.each { |file| require File.expand_path(file) }
