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

// listens says whether the client at the other end, which has sent all it will send, still
// has its socket. Clients are on this machine, so the kernel lists it; one that nobody
// holds any more is not listed, or has no inode.
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

// listed is an address as the kernel's table spells it: words of 32 bits in the order of
// this machine, which is taken to be little-endian, and the port.
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
