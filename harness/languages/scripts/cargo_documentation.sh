[ "$status" -gt 0 ] && [ "$status" -ne 101 ] && exit "$status"
results=$(@CARGO@ test --offline --no-fail-fast --doc@DOCUMENTATION@ 2> /tmp/doc-errors)
documented=$?
cat /tmp/doc-errors
printf '%s
' "$results" | tee -a {report}
if ! grep -q '^error: no library targets found' /tmp/doc-errors; then
  [ "$documented" -le "$status" ] || status=$documented
fi
