package httpserver

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// listens reports whether the client, which had closed its sending half at the given time, still holds its socket.
// Clients run on this machine, so the kernel's table lists the socket; one that no process holds is missing or
// has inode 0.
func listens(c net.Conn, since time.Time) bool {
	ours, okOurs := c.LocalAddr().(*net.TCPAddr)
	theirs, okTheirs := c.RemoteAddr().(*net.TCPAddr)
	if !okOurs || !okTheirs {
		return false
	}
	table := &sockets4
	if theirs.IP.To4() == nil {
		table = &sockets6
	}
	return table.holds(listed(theirs)+" "+listed(ours), since)
}

// socketTable is a table of the kernel, read once for all connections that are looked up in it within an interval:
// reading it takes time that grows with the number of connections on the machine.
type socketTable struct {
	file string

	mu    sync.Mutex
	read  time.Time
	held  map[string]bool // "local remote" addresses of sockets that a process holds
	looks int             // number of times the table was read
}

var (
	sockets4 = socketTable{file: "/proc/self/net/tcp"}
	sockets6 = socketTable{file: "/proc/self/net/tcp6"}
)

// holds reports whether a process holds the socket with that pair of addresses, which existed at the given time. A socket
// that is missing in an older table may be newer than the table: it counts as held until the table is read again.
func (t *socketTable) holds(pair string, since time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.read) > lookEvery {
		t.look()
	}
	return t.held[pair] || t.read.Before(since)
}

func (t *socketTable) look() {
	t.looks++
	t.read, t.held = time.Now(), make(map[string]bool)
	f, err := os.Open(t.file)
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 9 && fields[9] != "0" {
			t.held[fields[1]+" "+fields[2]] = true
		}
	}
}

// listed returns an address in the notation of the kernel's table: 32-bit words in the byte order of this
// machine, which is assumed to be little-endian, and the port.
func listed(a *net.TCPAddr) string {
	ip := slices.Clone([]byte(a.IP))
	if v4 := a.IP.To4(); v4 != nil {
		ip = slices.Clone(v4)
	}
	for word := range slices.Chunk(ip, 4) {
		slices.Reverse(word)
	}
	return fmt.Sprintf("%s:%04X", strings.ToUpper(hex.EncodeToString(ip)), a.Port)
}
