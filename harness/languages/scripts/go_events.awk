
function value(key) {
  if (!match($0, "\"" key "\":\"([^\"\\\\]|\\\\.)*")) return ""
  text = substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4)
  sub(/\\n$/, "", text); gsub(/\\t/, "\t", text); gsub(/\\"/, "\"", text)
  gsub(/\\u003c/, "<", text); gsub(/\\u003e/, ">", text); gsub(/\\u0026/, "\\&", text)
  return text
}
!/^{/ { print; next }
{ action = value("Action"); test = value("Test"); printed = value("Output") }
printed ~ /^=== RUN |--- (PASS|FAIL|SKIP): .*s\)$/ { next }
action ~ /output$/ { if ((shown += length(printed)) < 4000000) print printed; next }
test == "" { next }
action == "run" { print "=== RUN   " test; next }
action ~ /^(pass|fail|skip)$/ {
  seconds = match($0, /"Elapsed":[0-9.]+/) ? substr($0, RSTART + 10, RLENGTH - 10) : 0
  print "--- " toupper(action) ": " test " (" seconds "s)"
  fflush()
}
