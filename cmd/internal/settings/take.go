package settings

import (
	"cmp"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

// take validates a value and stores it in the settings. It reports whether the value is valid.
type take = func(*Settings, string) bool

func text(field func(*Settings) *string) take {
	return func(s *Settings, v string) bool {
		*field(s) = v
		return true
	}
}

func word(field func(*Settings) *string, allowed ...string) take {
	return func(s *Settings, v string) bool {
		*field(s) = v
		return slices.Contains(allowed, v)
	}
}

func boolean(field func(*Settings) *bool) take {
	return func(s *Settings, v string) bool {
		on := []string{"true", "1", "yes", "on"}
		off := []string{"false", "0", "no", "off"}
		*field(s) = slices.Contains(on, v)
		return *field(s) || slices.Contains(off, v)
	}
}

func integer[N int | int64](least, most int64, field func(*Settings) *N) take {
	return func(s *Settings, v string) bool {
		n, err := strconv.ParseInt(v, 10, 64)
		*field(s) = N(n)
		return err == nil && n >= least && n <= most
	}
}

// milliseconds takes at least 100 ms: nothing useful ends sooner.
func milliseconds(most int64, field func(*Settings) *time.Duration) take {
	return duration(time.Millisecond, 100, most, field)
}

func seconds(least, most int64, field func(*Settings) *time.Duration) take {
	return duration(time.Second, least, most, field)
}

func duration(unit time.Duration, least, most int64, field func(*Settings) *time.Duration) take {
	return func(s *Settings, v string) bool {
		n, err := strconv.ParseInt(v, 10, 64)
		*field(s) = time.Duration(n) * unit
		return err == nil && n >= least && n <= most
	}
}

func items(field func(*Settings) *[]string) take {
	return func(s *Settings, v string) bool {
		*field(s) = list(v)
		return true
	}
}

// names takes a non-empty list of allowed items.
func names(field func(*Settings) *[]string, allowed ...string) take {
	return func(s *Settings, v string) bool {
		items := list(v)
		*field(s) = items
		return len(items) > 0 && !slices.ContainsFunc(items, func(item string) bool { return !slices.Contains(allowed, item) })
	}
}

func unlessEmpty(t take) take {
	return func(s *Settings, v string) bool { return v == "" || t(s, v) }
}

func list(v string) []string {
	var items []string
	for _, item := range strings.Split(v, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func takePrunerURL(s *Settings, v string) bool {
	s.PrunerURL = v
	return v == "" || v == Embedded || isHTTP(v)
}

// isHTTP reports whether a value is an absolute HTTP URL with a valid port.
func isHTTP(v string) bool {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return false
	}
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16)
	return err == nil && port > 0
}

func takeThreshold(s *Settings, v string) bool {
	if v == "" {
		s.PrunerThreshold = nil
		return true
	}
	f, err := strconv.ParseFloat(v, 64)
	s.PrunerThreshold = &f
	return err == nil && f >= 0 && f <= 1
}

func takeRoot(s *Settings, v string) bool {
	abs, err := filepath.Abs(v)
	if err != nil {
		return false
	}
	s.Root = abs
	info, err := os.Stat(abs)
	return err == nil && info.IsDir()
}

// takeMetrics takes an address to listen on. A port alone means the loopback address. Others need a token elsewhere.
func takeMetrics(s *Settings, v string) bool {
	if v == "" {
		return true
	}
	host, port, err := net.SplitHostPort(v)
	if err != nil {
		host, port = "127.0.0.1", v
	}
	s.Metrics = net.JoinHostPort(host, port)
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil && host != "" && (web.IsLoopback(host) || s.MetricsToken != "")
}

// The two kinds of places in [Store].
const (
	FileStore     = "sqlite:"
	DatabaseStore = "postgres://"
	StoreAllowed  = FileStore + "FILE or " + DatabaseStore + "USER@HOST/DATABASE"
)

// storeName takes a file or a database.
func storeName(s *Settings, v string) bool {
	s.Store = v
	file, isFile := strings.CutPrefix(v, FileStore)
	return v == "" || isFile && file != "" || isDatabase(v)
}

func isDatabase(v string) bool {
	u, err := url.Parse(v)
	return err == nil && strings.HasPrefix(v, DatabaseStore) && !u.Query().Has("password")
}
