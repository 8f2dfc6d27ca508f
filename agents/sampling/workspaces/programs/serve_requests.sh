
exec 2> /dev/null
run() {
@COMMAND@
}
while read -r length end; do
  if [ "$length" -le @SHORT@ ]; then LC_ALL=C IFS= read -r -N "$length" request; else request=$(head -c "$length"); fi
  ( cd "$0" || cd /; eval "$request" ) < /dev/null
  printf '%03d%s' "$?" "$end"
done
