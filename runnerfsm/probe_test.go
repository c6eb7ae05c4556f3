package runnerfsm

import (
	"context"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// answers is a transport that gives one answer after the other, and repeats the last.
type answers []func(*http.Request) (*http.Response, error)

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	next := (*a)[0]
	if len(*a) > 1 {
		*a = (*a)[1:]
	}
	return next(r)
}

// after answers with a status after a time, unless the request is given up before.
func after(d time.Duration, status int) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(d):
			recorder := httptest.NewRecorder()
			recorder.WriteHeader(status)
			_, _ = recorder.WriteString(`{"ok":true}`)
			return recorder.Result(), nil
		}
	}
}

func broken(err error) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// TestUnreachable: a server that refuses connections is unreachable after three checks, a busy one that
// answers late is not, and one that answers nothing is after 30 s.
func TestUnreachable(t *testing.T) {
	refused, reset := broken(syscall.ECONNREFUSED), broken(syscall.ECONNRESET)
	ok, busy, silent := after(0, 200), after(28500*time.Millisecond, 200), after(time.Hour, 200)
	for name, c := range map[string]struct {
		answers answers
		lost    time.Duration // time until the server is unreachable; 0: it is not
		message string
	}{
		"healthy":                 {answers: answers{ok}},
		"busy":                    {answers: answers{busy}},
		"busy between failures":   {answers: answers{refused, refused, busy, refused, reset, ok}},
		"refuses":                 {answers: answers{ok, refused}, lost: 4 * time.Second, message: "connection refused"},
		"breaks off":              {answers: answers{reset}, lost: 3 * time.Second, message: "connection reset"},
		"answers an error":        {answers: answers{after(0, 500)}, lost: 3 * time.Second, message: "500"},
		"answers an error late":   {answers: answers{after(1500*time.Millisecond, 500)}, lost: 6500 * time.Millisecond, message: "500"},
		"stops answering":         {answers: answers{ok, silent}, lost: 32 * time.Second, message: "no answer to /healthz within 30s"},
		"refuses, then is silent": {answers: answers{refused, silent}, lost: 32 * time.Second, message: "no answer"},
		"is busy, then is silent": {answers: answers{busy, silent}, lost: 60 * time.Second, message: "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &serverProcess{host: "127.0.0.1", port: 1}
				s.probe.Transport = &c.answers
				lost, err := watched(t.Context(), s, 10*time.Minute)
				assert.Equal(t, c.lost, lost)
				if c.message != "" {
					assert.ErrorContains(t, err, c.message)
				}
			})
		})
	}
}

// watched checks a server for a time, and returns when it was lost and why.
func watched(ctx context.Context, s *serverProcess, atMost time.Duration) (time.Duration, error) {
	began, end := time.Now(), time.After(atMost)
	probes := newHealthProber(healthEvery, s, healthSilentFor)
	defer probes.Stop()
	for {
		select {
		case <-end:
			return 0, nil
		case <-probes.Tick():
			probes.Start(ctx)
		case err := <-probes.Result:
			if probes.Take(err); probes.Lost(err, maxHealthFailures) {
				return time.Since(began), err
			}
		}
	}
}
