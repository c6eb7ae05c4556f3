package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The headers of a reverse proxy count when it sends them, and are removed whoever sends them.
func TestForwardedHeaders(t *testing.T) {
	proxies, ok := ParseProxies([]string{"10.0.0.0/8", "192.0.2.1", "fd00::/8"})
	require.True(t, ok)
	a := Access{Host: "0.0.0.0", Proxies: proxies}
	for from, want := range map[string]string{
		"10.1.2.3:4": "alice", "192.0.2.1:4": "alice", "[::ffff:10.0.0.1]:4": "alice", "[fd00::1]:4": "alice",
		"192.0.2.2:4": "", "127.0.0.1:4": "", "[fe80::1]:4": "", "": "",
	} {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.RemoteAddr = from
		for _, name := range forwarded {
			r.Header.Set(name, "alice")
		}
		assert.Equal(t, want == "", a.Foreign(r) != "", "%s without TLS", from)
		assert.Equal(t, want, a.TakeUser(r), from)
		for _, name := range forwarded {
			assert.Empty(t, r.Header.Get(name), name)
		}
	}
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.RemoteAddr = "10.1.2.3:4"
	r.Header.Set("X-Forwarded-User", "a\x1b[2Jb")
	assert.Empty(t, a.TakeUser(r), "a name goes into logs")
}

// Beyond loopback any Host is good, so that no reverse proxy has to rewrite it, and a page only of the door's own site.
func TestOriginBeyondLoopback(t *testing.T) {
	a := Access{Host: "0.0.0.0", Cert: "c", Key: "k", Public: "https://mcp.example.com"}
	for origin, ok := range map[string]bool{"": true, "https://mcp.example.com": true, "https://evil.example.com": false, "null": false, "http://localhost": false} {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Host = "gateway-7:8005"
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		assert.Equal(t, ok, a.Foreign(r) == "", origin)
	}
}

// write writes a new certificate and returns its number.
func write(t *testing.T, cert, key string, n int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(n), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	raw, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}), 0o600))
}

func serial(t *testing.T, c *tls.Certificate) int64 {
	t.Helper()
	parsed, err := x509.ParseCertificate(c.Certificate[0])
	require.NoError(t, err)
	return parsed.SerialNumber.Int64()
}

// A new certificate is taken up; half of one is not, and is reported once.
func TestCertificatesAreTakenUpAnew(t *testing.T) {
	cert, key := filepath.Join(t.TempDir(), "c.pem"), filepath.Join(t.TempDir(), "k.pem")
	_, err := certified(cert, key, nil)
	require.ErrorContains(t, err, "the TLS certificate "+cert)
	write(t, cert, key, 1)
	now, failures := time.Now(), 0
	c := &certificate{cert: cert, key: key, failed: func(error) { failures++ }, now: func() time.Time { return now }}
	require.NoError(t, c.read(c.stat()))
	assert.Equal(t, int64(1), serial(t, c.current()))
	require.NoError(t, os.WriteFile(cert, []byte("half"), 0o600))
	for range 3 {
		now = now.Add(time.Second)
		assert.Equal(t, int64(1), serial(t, c.current()))
	}
	assert.Equal(t, 1, failures)
	write(t, cert, key, 2)
	now = now.Add(time.Second)
	assert.Equal(t, int64(2), serial(t, c.current()))
}
