# Sets up a Go that was unpacked into /usr/local/go, in the new system.
# A module holds no other modules, so those of Go's own tree have another name in the archive.
find /usr/local/go -name _go.mod -execdir mv {} go.mod \;
ln -s /usr/local/go/bin/go /usr/local/go/bin/gofmt /usr/local/bin/
go version
