# Links the packages to where node looks for them, so that instances share them.
(cd /opt/node && find . -name node_modules -prune) | while read -r folder; do
    [ -e "$folder" ] || { mkdir -p "$(dirname "$folder")" && ln -s "/opt/node/${folder#./}" "$folder"; }
done

if [ -e /build/commands.sh ]; then
    PATH="/testbed/node_modules/.bin:$PATH" sh -eu /build/commands.sh
fi
