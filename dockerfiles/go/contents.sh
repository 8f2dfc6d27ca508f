# Path and version of every module, with its hash as in go.sum.
find /opt/go/mod/cache/download -name '*.ziphash' | LC_ALL=C sort | while read -r file; do
    module=${file#/opt/go/mod/cache/download/}
    echo "${module%/@v/*}@$(basename "$file" .ziphash) $(cat "$file")"
done > packages
