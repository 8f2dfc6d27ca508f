# Name and version of every package of the environment, and the hash of what was installed. Bytecode, notes of where a
# package came from, and libraries that were compiled here do not count.
for folder in /opt/venv/lib/python3*/site-packages/*.dist-info; do
    [ -e "$folder/RECORD" ] || continue
    left_out='[.]pyc,|[.]dist-info/(RECORD|INSTALLER|REQUESTED|[a-z_]+[.]json),'
    ! grep -q '^Tag: .*-linux_' "$folder/WHEEL" || left_out="$left_out|[.]so,"
    files=$(grep -v -E "$left_out" "$folder/RECORD" | LC_ALL=C sort | sha256sum)
    name=$(basename "$folder" .dist-info)
    echo "${name%-*} ${name##*-} sha256:${files%% *}"
done | LC_ALL=C sort > packages
