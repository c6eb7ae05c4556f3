package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// Ask asks a proxy how it is, after it has proved that it is this user's.
func Ask(ctx context.Context, address string, key secret.Proof) (h Health, err error) {
	l, err := ask(ctx, address, key)
	if err != nil {
		return h, err
	}
	defer l.close()
	_, text, err := l.send(ctx, http.MethodGet, secret.ProofHeader, key.Sign(secret.Asks, l.at, l.nonce))
	if err == nil && (json.Unmarshal(text, &h) != nil || h.Status == "") {
		err = l.stranger("it does not say how it is")
	}
	return h, err
}

// Stop ends a proxy, after the answers in progress.
func Stop(ctx context.Context, address string, key secret.Proof) error {
	l, err := ask(ctx, address, key)
	if err != nil {
		return err
	}
	defer l.close()
	status, _, err := l.send(ctx, http.MethodDelete, secret.ProofHeader, key.Sign(secret.Ends, l.at, l.nonce))
	if err == nil && status != http.StatusAccepted {
		err = errors.New("it does not end by a request")
	}
	return err
}

// Stranger is the error that something else than this user's proxy listens at its address. Whatever a client sends there, it
// gets.
type Stranger struct {
	Why    string
	mute   bool // it took the connection and did not answer, as a proxy that ends just now
	kindly bool // it is this user's and speaks as a proxy does, such as one of an older version
}

func (s Stranger) Error() string { return s.Why }

// Taken reports whether an error of [Ask] means that something else listens in the proxy's place.
func Taken(err error) bool { return errors.As(err, new(Stranger)) }

// line is one connection to what listens at an address. What was proved on it holds for nothing else.
type line struct {
	client http.Client
	url    string
	at     string // HOST:PORT of the other end
	nonce  string // of the proxy's process, after its proof
	whose  owner
}

// ask connects to a proxy and lets it prove that it is this user's. Nothing is sent that is worth anything to somebody else.
func ask(ctx context.Context, address string, key secret.Proof) (*line, error) {
	l, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := l.proved(ctx, key); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// dial opens a line. The listener's owner is looked up before anything is sent.
func dial(ctx context.Context, address string) (*line, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{Timeout: startWithin}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	l := &line{url: address + HealthPath, at: conn.RemoteAddr().String(), whose: ownerOf(conn.RemoteAddr().String())}
	if l.whose.foreign() {
		_ = conn.Close()
		return nil, l.stranger("its program belongs to another user")
	}
	once := make(chan net.Conn, 1)
	once <- conn
	close(once)
	sent := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	l.client = http.Client{Timeout: startWithin, CheckRedirect: sent, Transport: &http.Transport{ // no proxy of the environment's
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			if conn := <-once; conn != nil {
				return conn, nil
			}
			return nil, errors.New("it has closed the connection")
		},
	}}
	return l, nil
}

func (l *line) close() { l.client.CloseIdleConnections() }

const cannotProve = "cannot prove that it is this user's proxy"

// proved challenges the other end.
func (l *line) proved(ctx context.Context, key secret.Proof) error {
	nonce := secret.NewNonce()
	status, text, err := l.send(ctx, http.MethodGet, secret.ChallengeHeader, nonce)
	if err != nil {
		s := l.stranger("it takes connections and does not answer")
		s.mute = true
		return s
	}
	var answer proven
	_ = json.Unmarshal(text, &answer) // what is no answer proves nothing
	if status == http.StatusOK && key.Is(answer.Proof, secret.Answers, l.at, nonce) {
		l.nonce = answer.Nonce
		return nil
	}
	ours := answer.Nonce != "" || status == http.StatusForbidden && strings.Contains(string(text), prefixed)
	if ours && l.whose.known && l.whose.uid == os.Getuid() {
		return Stranger{kindly: true, Why: fmt.Sprintf("what listens on %s %s, but you started it and it answers as a proxy does: it is of an older version, or has another state directory. "+
			"End it, and start it again", l.at, cannotProve)}
	}
	return l.stranger("it " + cannotProve)
}

// send sends a request about the proxy itself.
func (l *line) send(ctx context.Context, method, header, value string) (status int, text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, l.url, nil)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set(header, value)
	res, err := l.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err = io.ReadAll(io.LimitReader(res.Body, 64<<10))
	return res.StatusCode, text, err
}

// stranger says what listens there instead of the proxy.
func (l *line) stranger(why string) Stranger {
	return Stranger{Why: fmt.Sprintf("what listens on %s is not a proxy of yours (%s%s)", l.at, why, l.whose)}
}

// owner is the user whose program listens at an address, if the system says.
type owner struct {
	uid   int
	known bool
}

// ownerOf looks up the listener's owner.
func ownerOf(address string) owner {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return owner{}
	}
	uid, known := listenerUser(at)
	return owner{uid, known}
}

// foreign reports whether the listener belongs to another user. What root runs has to prove itself like any other.
func (o owner) foreign() bool { return o.known && o.uid != os.Getuid() && o.uid != 0 }

func (o owner) String() string {
	switch {
	case !o.known:
		return ""
	case o.uid == os.Getuid():
		return "; its program is one of yours"
	}
	return fmt.Sprintf("; user id %d", o.uid)
}
