package web

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers on the pages to their constants.
func TestStated(t *testing.T) {
	bits := 4 * (keyLength - len(keyPrefix))
	page := stated.On(t, "SECURITY.md")
	page.Says("%s random bits, stored as a hash", "keyLength", bits)
	page.Says("refused within %s s of its revocation", "MaxRevoked", MaxRevoked/time.Second)
	page.Says("nobody new; %s MiB and", "maxProviderBytes", maxProviderBytes>>20)
	page.Says("MiB and %s s at most", "providerWithin", providerWithin/time.Second)
	page = stated.On(t, "docs/TEAMS.md")
	page.Says("revoked key is refused within %s s", "MaxRevoked", MaxRevoked/time.Second)
	page.Says("for a look-up, %s at a time", "unseenLookups", unseenLookups)
	page.Says("Unseen keys wait up to %s s", "lookupWithin", lookupWithin/time.Second)
	page.Says("is good for %s more minutes", "keysFresh", keysFresh/time.Minute)
	page.Says("or for %s while the provider", "keysLost", keysLost/time.Minute)
	page = stated.On(t, "docs/decisions/142-who-may-call-beyond-loopback.md")
	page.Says("A key has %s random bits", "keyLength", bits)
	page.Says("is believed for %s s", "fresh", fresh/time.Second)
	page.Says("are looked up %s at a time", "unseenLookups", unseenLookups)
	page.Says("are fetched every %s minutes", "keysFresh", keysFresh/time.Minute)
	page.Says("at most once in %s s", "keysAgain", keysAgain/time.Second)
}
