package proxy

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// peerUser returns the id of the user whose process is at the other end of a connection on this machine. ok is false if
// the system does not say, as for a process in another network namespace.
func peerUser(c net.Conn) (uid int, ok bool) {
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return 0, false
	}
	own, err := netip.ParseAddrPort(c.LocalAddr().String())
	if err != nil {
		return 0, false
	}
	return ownerInTables(func(s socket) bool { return isAddress(s.local, peer) && isAddress(s.remote, own) })
}

// listenerUser returns the id of the user whose program takes the connections to an address of this machine. ok is false
// if the system does not say.
func listenerUser(at netip.AddrPort) (uid int, ok bool) {
	for _, host := range []netip.Addr{at.Addr(), netip.IPv4Unspecified(), netip.IPv6Unspecified()} { // the kernel prefers the narrowest
		local := netip.AddrPortFrom(host, at.Port())
		if uid, ok = ownerInTables(func(s socket) bool { return s.state == listening && isAddress(s.local, local) }); ok {
			return uid, true
		}
	}
	return 0, false
}

// socket is one of the kernel's tables.
type socket struct{ local, remote, state string }

// listening is the state of a socket that takes connections.
const listening = "0A"

// ownerInTables returns the owner of the first socket that is wanted.
func ownerInTables(wanted func(socket) bool) (uid int, ok bool) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} { // a socket of IPv6 may connect to 127.0.0.1
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		uid, ok = userIn(f, wanted)
		_ = f.Close() // it was only read
		if ok {
			return uid, true
		}
	}
	return 0, false
}

// userIn finds the owner of a socket in a table of the kernel's.
func userIn(table io.Reader, wanted func(socket) bool) (uid int, ok bool) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text()) // sl local_address rem_address st tx:rx tr:when retrnsmt uid ...
		if len(f) < 8 || !wanted(socket{f[1], f[2], f[3]}) {
			continue
		}
		uid, err := strconv.Atoi(f[7])
		return uid, err == nil
	}
	return 0, false
}

// isAddress compares an address such as 0100007F:2253 with another. The kernel writes each 32 bits of the address as a
// number of the machine's byte order.
func isAddress(text string, a netip.AddrPort) bool {
	host, port, _ := strings.Cut(text, ":")
	if n, err := strconv.ParseUint(port, 16, 16); err != nil || uint16(n) != a.Port() {
		return false
	}
	raw, err := hex.DecodeString(host)
	if err != nil || len(raw) != 4 && len(raw) != 16 {
		return false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	found, ok := netip.AddrFromSlice(raw)
	return ok && found.Unmap() == a.Addr().Unmap()
}
