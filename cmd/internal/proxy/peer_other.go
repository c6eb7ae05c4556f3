//go:build !linux

package proxy

import (
	"net"
	"net/netip"
)

// peerUser returns the id of the user at the other end of a connection. Only Linux says.
func peerUser(net.Conn) (uid int, ok bool) { return 0, false }

// listenerUser returns the id of the user whose program takes the connections to an address. Only Linux says.
func listenerUser(netip.AddrPort) (uid int, ok bool) { return 0, false }
