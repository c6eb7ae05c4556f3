//go:build e2e

package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// internet is an HTTPS proxy that replaces the Internet: the mock model answers the requests to every host. The client
// trusts its certificates because of the file ca.
type internet struct {
	*httptest.Server
	ca   string
	root tls.Certificate
	to   http.Handler

	mu   sync.Mutex
	seen []asked
}

// asked is a request to a host outside the machine.
type asked struct {
	host, path string
	header     http.Header
	body       []byte
}

func newInternet(t *testing.T, w *world) *internet {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	n := &internet{ca: filepath.Join(w.home, "ca.pem"), root: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, to: w.model}
	w.write(n.ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), 0o644)
	n.Server = httptest.NewServer(http.HandlerFunc(n.connect))
	t.Cleanup(n.Close)
	w.env = append(w.env, "HTTPS_PROXY="+n.URL, "https_proxy="+n.URL, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "NODE_EXTRA_CA_CERTS="+n.ca, "SSL_CERT_FILE="+n.ca)
	return n
}

// connect terminates the TLS connection of a CONNECT request and serves the requests on it.
func (n *internet) connect(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "CONNECT only", http.StatusMethodNotAllowed)
		return
	}
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	host, _, _ := net.SplitHostPort(r.Host)
	server := &http.Server{Handler: n.record(host), ReadHeaderTimeout: time.Minute}
	_ = server.Serve(&oneConn{conn: tls.Server(conn, &tls.Config{GetCertificate: n.certificate, NextProtos: []string{"http/1.1"}})})
}

func (n *internet) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{hello.ServerName}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	key := n.root.PrivateKey.(*ecdsa.PrivateKey)
	der, err := x509.CreateCertificate(rand.Reader, template, n.root.Leaf, &key.PublicKey, key)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// record keeps each request and lets the model answer it.
func (n *internet) record(host string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n.mu.Lock()
		n.seen = append(n.seen, asked{host, r.URL.Path, r.Header.Clone(), body})
		n.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		n.to.ServeHTTP(w, r)
	})
}

// oneConn is a listener with one connection.
type oneConn struct {
	conn net.Conn
	once sync.Once
}

func (l *oneConn) Accept() (conn net.Conn, err error) {
	err = errors.New("there is no second connection")
	l.once.Do(func() { conn, err = l.conn, nil })
	return conn, err
}
func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }

func (n *internet) requests() []asked {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.seen)
}
