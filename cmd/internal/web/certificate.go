package web

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// lookAgain is the interval at which the files of a certificate are looked at, with the next connection.
const lookAgain = time.Second

// certificate is a TLS certificate in two files, which is read again when they change.
type certificate struct {
	cert, key string
	failed    func(error)
	now       func() time.Time

	mu     sync.Mutex
	pair   *tls.Certificate
	looked time.Time
	state  string // of the files when they were last read
}

// certified returns the settings of a TLS server with a certificate in two files. It fails if they cannot be used now. If
// they cannot be used later, the old certificate stays in use, and failed gets the reason.
func certified(cert, key string, failed func(error)) (*tls.Config, error) {
	c := &certificate{cert: cert, key: key, failed: failed, now: time.Now}
	if err := c.read(c.stat()); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"}, // the doors work on connections, not on streams
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil },
	}, nil
}

// current returns the certificate, after it looked whether there is a new one.
func (c *certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Sub(c.looked) < lookAgain {
		return c.pair
	}
	c.looked = c.now()
	if state := c.stat(); state != c.state {
		if err := c.read(state); err != nil {
			c.state = state // it is reported once
			c.failed(fmt.Errorf("%w; the certificate from before stays in use", err))
		}
	}
	return c.pair
}

// read reads both files. A certificate and a key that do not belong together are an error: one of them is not yet written.
func (c *certificate) read(state string) error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("the TLS certificate %s with the key %s: %w", c.cert, c.key, err)
	}
	c.pair, c.state = &pair, state
	return nil
}

// stat returns a text that is another one when a file was changed or replaced.
func (c *certificate) stat() (state string) {
	for _, path := range []string{c.cert, c.key} {
		info, err := os.Stat(path)
		if err != nil {
			state += err.Error()
			continue
		}
		state += fmt.Sprintln(info.Size(), info.ModTime().UnixNano())
	}
	return state
}
