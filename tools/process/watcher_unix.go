//go:build unix

package process

import (
	"io"
	"os/exec"
	"syscall"
)

// watcherScript reads "+ leader" and "- leader" until its input ends, which is
// when the process that wrote it is gone, and then kills every process of the
// sessions that are left: by their process groups, and where there is a /proc by
// their session. It uses nothing but what a POSIX shell has built in.
const watcherScript = `trap '' HUP INT TERM
live=' '
while read -r op id; do
	case $op in
	+) live="$live$id " ;;
	-) live="${live%% $id *} ${live#* $id }" ;;
	esac
done
for id in $live; do kill -9 -- "-$id"; done
for again in 1 2 3; do
	[ -n "${live# }" ] || exit 0
	for stat in /proc/[0-9]*/stat; do
		{ read -r line <"$stat"; } 2>/dev/null || continue
		set -- ${line##*) }
		case $live in *" $4 "*) pid=${stat#/proc/}; kill -9 "${pid%/stat}" ;; esac
	done
done`

// startWatcher starts the watcher in a session of its own: a client that ends its
// server's process group must not end it.
func startWatcher() (io.WriteCloser, error) {
	cmd := exec.Command("/bin/sh", "-c", watcherScript, "mcp-pruner-watcher")
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		_ = pipe.Close()
		return nil, err
	}
	go func() { _ = cmd.Wait() }() // until the pipe is closed
	return pipe, nil
}
