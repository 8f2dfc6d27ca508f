# Loaded before a project that runs on Debian's gems, without Bundler: puts the project's own libraries on the path, and
# answers for Bundler and for gems that only measure coverage or print results.
roots = Dir["/testbed/{,*/,*/*/}*.gemspec", "/opt/downloads/libraries/*/*.gemspec"].map { |file| File.dirname(file) }
roots.reject! { |root| root.match?(%r{/(vendor|fixtures?|templates?|test|spec)(/|\z)}) && root.start_with?("/testbed") }
$LOAD_PATH.unshift(*["/testbed", *roots].uniq.map { |root| "#{root}/lib" }.select { |folder| File.directory?(folder) })

module AssayGems
  # Stands for whatever only measures or prints: every method and every constant is itself.
  Silent = Module.new do
    def self.method_missing(*)
      self
    end

    def self.respond_to_missing?(*)
      true
    end

    def self.const_missing(_name)
      self
    end
  end
  SILENT = {
    "codeclimate-test-reporter" => %w[CodeClimate],
    "codecov" => %w[SimpleCov Formatter Codecov],
    "coveralls" => %w[Coveralls],
    "coveralls_reborn" => %w[Coveralls],
    "minitest/profile" => [],
    "pry-byebug" => [],
    "rspec_junit_formatter" => %w[RspecJunitFormatter],
    "simplecov" => %w[SimpleCov],
    "simplecov-cobertura" => %w[SimpleCov Formatter CoberturaFormatter],
    "simplecov-console" => %w[SimpleCov Formatter Console],
    "simplecov-html" => %w[SimpleCov Formatter HTMLFormatter],
    "simplecov-json" => %w[SimpleCov Formatter JSONFormatter],
    "simplecov-lcov" => %w[SimpleCov Formatter LcovFormatter],
    "simplecov_json_formatter" => %w[SimpleCov Formatter JSONFormatter],
    "simplecov-rcov" => %w[SimpleCov Formatter RcovFormatter],
    "undercover" => %w[Undercover],
  }.freeze
  BUNDLER = %w[bundler bundler/setup bundler/inline bundler/gem_tasks bundler/gem_helper bundler/gem_helpers].freeze

  # Defines the constants of a gem that is not there; one that is there stays.
  def self.stand_in(names)
    names.each_with_index.inject(Object) do |scope, (name, place)|
      break if scope.equal?(Silent)
      next scope.const_get(name, false) if scope.const_defined?(name, false)

      scope.const_set(name, place + 1 == names.size || name == "SimpleCov" ? Silent : Module.new)
    end
  end

  def require(path)
    return false if BUNDLER.include?(path.to_s)

    super
  rescue LoadError => error
    raise unless error.path == path.to_s && (names = SILENT[path.to_s])

    AssayGems.stand_in(names)
    true
  end
end
Object.prepend(AssayGems)

# As much of Bundler as tests and their helpers call.
module Bundler
  GemfileNotFound = GemNotFound = Class.new(StandardError)

  class << self
    # Requires the gems that the Gemfile names, as far as they are there.
    def require(*_groups)
      lines = File.file?("/testbed/Gemfile") ? File.readlines("/testbed/Gemfile") : []
      lines.each do |line|
        name = line[/^\s*gem[\s(]+["']([\w.-]+)["']/, 1]
        next if name.nil? || line.match?(/require(:| =>)\s*false/)

        named = line[/require(?::| =>)\s*["']([^"']+)["']/, 1]
        [named, name, name.tr("-", "/")].compact.any? { |path| load_gem(path) }
      end
    end

    def setup(*)
      self
    end

    def root
      Pathname("/testbed")
    end

    def default_gemfile
      Pathname("/testbed/Gemfile")
    end

    %i[with_clean_env with_unbundled_env with_original_env].each { |name| define_method(name) { |&block| block.call } }

    private

    def load_gem(path)
      Kernel.require(path)
      true
    rescue LoadError
      false
    end
  end
end
require "pathname"
