target='\{"kind":\[[^]]*\],"crate_types":\[[^]]*\][^}]*\}'
others='\{"name":"[^"]*","version"|"id":"[^"]*"|"manifest_path":"[^"]*"|"workspace_default_members":\[[^]]*\]'
programs() {
  cargo metadata --offline --no-deps --format-version 1 2> /dev/null | grep -oE "$target|$others" | tac | awk '
    function value(key) {
      return match($0, "\"" key "\":\"[^\"]*") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : ""
    }
    function has(option, name,   at, pattern) {
      for (at = 1; at <= count; at++) {
        if (index(words[at], option "=") != 1) continue
        pattern = substr(words[at], length(option) + 2)
        sub(/[@:][0-9][^\/]*$/, "", pattern)
        gsub(/[.+]/, "[&]", pattern); gsub(/[*]/, ".*", pattern); gsub(/[?]/, ".", pattern)
        if (name ~ "^" pattern "$") return 1
      }
    }
    function given(options) { return choice ~ "(^|\n)(" options ")(=|\n|$)" }
    function runs(kind, name) {
      if (!given(kinds) || given("--tests|--all-targets")) return 1
      if (kind ~ /^(test|bin|example)$/) return given("--" kind "s") || has("--" kind, name)
      return kind != "bench" && given("--lib")
    }
    BEGIN {
      choice = ENVIRON["chosen"]; count = split(choice, words, "\n")
      kinds = "--(lib|bins?|tests?|examples?|bench(es)?|all-targets|doc)"
    }
    /^"workspace_default_members"/ { members = $0 }
    /^"manifest_path"/ { manifest = value("manifest_path"); found = 0 }
    /^{.*"test":true/ {
      match($0, /"kind":\["[a-z]*/)
      kind = substr($0, RSTART + 9, RLENGTH - 9)
      if (!runs(kind, value("name"))) next
      targets[++found] = manifest " " value("edition") " " value("name") " " value("src_path")
    }
    /^"id"/ { id = $0 }
    /^{"name":"[^"]*","version"/ {
      name = value("name")
      chosen = given("-p|--package") ? has("-p", name) || has("--package", name) : index(members, substr(id, 6))
      if (!has("--exclude", name) && (chosen || given("--workspace|--all"))) for (; found; found--) print targets[found]
      found = 0
    }'
}
has_line() {
  awk -v name="$2" -v line="$3" '
    function look() {
      if (here && (named == name || path ~ "/" name "\\.rs$")) found = 1
      here = named = path = ""
    }
    /^\[/ { look() }
    $0 ~ line { here = 1 }
    /^name *=/ { split($0, parts, "\""); named = parts[2] }
    /^path *=/ { split($0, parts, "\""); path = "/" parts[2] }
    END { look(); exit !found }' "$1"
}
has_own_harness() { has_line "$@" '^harness *= *false'; }
needs_features() { has_line "$@" '^required-features *='; }
with_a_label() {
  sed 's/.*:://' "$TRIPWIRES/labels" | grep . > /tmp/assay-words || return 0
  grep -rlwFf /tmp/assay-words --include='*.rs' -- "$@" | sort
}
# Prints the number of the last line of each module inside of a file that has a test with a label, the last one first.
inside() {
  awk 'NR == FNR { words[$0]; next }
    /^(pub(\([a-z]+\))? )?mod +[a-z_0-9]+ *\{ *$/ { open = 1; found = 0 }
    open { for (word in words) if ($0 ~ "fn +" word "[^A-Za-z0-9_]") found = 1 }
    /^} *$/ { if (open && found) print FNR; open = 0 }' /tmp/assay-words "$1" | tac
}
chosen=$(printf '%s\n' "$@") number=0 && export chosen
programs | sort -u | while read -r manifest edition name source; do
  number=$((number + 1)) sources=$source core=::core:: sure=
  case $chosen in *://* | */*) sure='?' ;; esac
  ! grep -qE '^ *(pub(\([a-z]+\))? )?mod [a-z_0-9]+;' "$source" || sources=$(dirname "$source")
  defines_expected '\bfn +\w+|\w+! *[({] *\w+' "$sources" || continue
  ! has_own_harness "$manifest" "$name" || continue
  [ "$edition" != 2015 ] || core=core::
  ! needs_features "$manifest" "$name" && ! grep -qE '^#!\[cfg\(' "$source" || sure='?'
  fill() { cat "$TRIPWIRES"/*.rs | sed -e "s/@PLACE@/$1/g" -e "s/::core::/$core/g"; }
  # A macro of the crate holds in the modules below it, and perhaps not behind them.
  nested=0
  with_a_label "$sources" | while read -r file; do
    [ "$file" = "$source" ] || {
      nested=$((nested + 1)) && fill "${number}f$nested" >> "$file" && echo "${number}f$nested?"
    }
    module=0
    inside "$file" | while read -r line; do
      module=$((module + 1)) place=${number}f${nested}m$module
      fill "$place" > /tmp/assay-wires && sed -i "$((line - 1))r /tmp/assay-wires" "$file" && echo "$place?"
    done
  done
  fill "$number" >> "$source"
  echo "$number$sure"
done
rm -f /tmp/assay-words /tmp/assay-wires
