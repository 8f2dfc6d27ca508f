for file in "$TRIPWIRES"/*.cjs; do
  sed "s/@PLACE@/root/g" "$file" > "${file##*/}" && echo root
done
