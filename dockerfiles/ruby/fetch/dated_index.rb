# Serves a gem index on this machine without the versions that came out after a time:
#   dated_index.rb URL TIME PORT NOTE
# It says in the file NOTE for which gems the index knows no dates.
require "json"
require "net/http"
require "socket"
require "time"

UPSTREAM, CUTOFF, PORT, NOTE = ARGV[0].chomp("/"), Time.parse(ARGV[1]), Integer(ARGV[2]), ARGV[3]

# Returns status and body; raises what Net::HTTP raises.
def fetch(url, redirects = 5, tries = 3)
  answer = Net::HTTP.get_response(URI(url))
  return fetch(URI.join(url, answer["location"]).to_s, redirects - 1) if answer["location"] && redirects.positive?

  [answer.code, answer.body]
rescue SystemCallError, SocketError, Timeout::Error, EOFError
  raise if tries == 1

  sleep 2
  fetch(url, redirects, tries - 1)
end

# Returns the time of each version of a gem, by version and platform.
def dates(name)
  code, body = fetch("#{UPSTREAM}/api/v1/versions/#{name}.json")
  return {} unless code == "200"

  JSON.parse(body).to_h do |each|
    platform = [nil, "", "ruby"].include?(each["platform"]) ? "" : "-#{each['platform']}"
    [each["number"] + platform, each["created_at"]]
  end
end

def keep_earlier(name, lines)
  known = nil
  lines.select do |line|
    next true if line == "---"

    time = line[/[|,]created_at:([^,\s]+)/, 1] || (known ||= dates(name))[line[/\A\S+/]]
    File.open(NOTE, "a") { |file| file.puts("the index does not say when #{name} #{line[/\A\S+/]} came out") } unless time
    time.nil? || Time.parse(time) <= CUTOFF
  end
end

def answer(path)
  code, body = fetch(UPSTREAM + path)
  name = path[%r{\A/info/([\w.-]+)\z}, 1]
  body = "#{keep_earlier(name, body.lines(chomp: true)).join("\n")}\n" if name && code == "200"
  [code, body]
rescue StandardError => error
  ["502", "#{error.class}: #{error.message}"]
end

server = TCPServer.new("127.0.0.1", PORT)
loop do
  Thread.new(server.accept) do |client|
    path = client.gets.to_s[/\A\w+ (\S+)/, 1]
    nil until client.gets.to_s.strip.empty?
    code, body = path ? answer(path) : ["400", ""]
    client.write("HTTP/1.1 #{code} #{code}\r\nContent-Length: #{body.bytesize}\r\nConnection: close\r\n\r\n", body)
  ensure
    client.close
  end
end
