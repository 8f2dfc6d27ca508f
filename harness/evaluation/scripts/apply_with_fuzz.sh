set -uf
rm -rf @COPY@ && mkdir -p @COPY@/a || exit 1
while IFS= read -r -d '' path; do
  set -- $(@GIT@ ls-tree HEAD -- "$path")
  case "${1-}" in 100644 | 100755) ;; *) continue ;; esac
  file=@COPY@/a/$path
  mkdir -p "${file%/*}" && @GIT@ cat-file blob "$3" > "$file" || exit 1
  [ "$1" = 100644 ] || chmod a+x "$file"
done < @NAMED@
cp -R @COPY@/a @COPY@/b && cd @COPY@/b || exit 1
patch -u -p1 --batch --forward --fuzz=5 --no-backup-if-mismatch -r - -i @MODEL@ > /dev/null 2>&1 || exit 2
cd .. && git diff --no-index --no-prefix --text --no-renames --no-ext-diff --no-textconv --no-color a b 2> /dev/null
[ $? -le 1 ]
