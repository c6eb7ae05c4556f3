package httpserver

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
)

// listens reports whether the client, which has closed its sending half, still holds its socket. Clients
// run on this machine, so the kernel's table lists the socket; one that no process holds is missing or has
// inode 0.
func listens(c net.Conn) bool {
	ours, okOurs := c.LocalAddr().(*net.TCPAddr)
	theirs, okTheirs := c.RemoteAddr().(*net.TCPAddr)
	if !okOurs || !okTheirs {
		return false
	}
	table := "/proc/self/net/tcp"
	if theirs.IP.To4() == nil {
		table += "6"
	}
	f, err := os.Open(table)
	if err != nil {
		return false
	}
	defer f.Close()
	local, remote := listed(theirs), listed(ours)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 9 && fields[1] == local && fields[2] == remote {
			return fields[9] != "0"
		}
	}
	return false
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
