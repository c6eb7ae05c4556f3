//go:build unix

package process

import (
	"io"
	"os/exec"
	"syscall"
)

// watcherScript reads "+ leader:mark" and "- leader:mark", without the leader of a command
// that is being started, until its input ends. That is when the process that wrote it is
// gone. It then kills what is left of these commands: their process groups and, where there
// is a /proc, every process with their session or with their mark in its environment. It
// uses nothing but what a POSIX shell has built in. dash takes no "--" after "kill -9".
const watcherScript = `trap '' HUP INT TERM
live=' '
while read -r op id; do
	case $op in
	+) live="$live$id " ;;
	-) live="${live%% $id *} ${live#* $id }" ;;
	esac
done
for id in $live; do [ -z "${id%:*}" ] || kill -9 "-${id%:*}"; done
for again in 1 2 3; do
	[ -n "${live# }" ] || exit 0
	for process in /proc/[0-9]*; do
		{ read -r line <"$process/stat"; } 2>/dev/null || continue
		set -- ${line##*\) }
		case $live in *" $4:"*) kill -9 "${process#/proc/}"; continue ;; esac
		{ while read -r line || [ -n "$line" ]; do
			case $line in *` + markVariable + `=*) ;; *) continue ;; esac
			for id in $live; do
				case $line in *` + markVariable + `="${id#*:}"*) kill -9 "${process#/proc/}" ;; esac
			done
		done <"$process/environ"; } 2>/dev/null
	done
done`

// startWatcher starts the watcher in its own session, because a client that ends its server's process group must not
// end the watcher.
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
