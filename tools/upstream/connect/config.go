// Package connect is the client of other MCP servers (upstreams). It starts their programs or dials their addresses, keeps
// their tool lists from one start to the next, and passes calls, results, progress and requests through.
package connect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// Config is one entry of mcpServers: a command to run, or a URL.
type Config struct {
	Name    string            `json:"-"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Off     bool              `json:"disabled,omitempty"`

	// Stateless: the server keeps nothing between calls, so that all clients may share one connection to it.
	Stateless bool `json:"stateless,omitempty"`

	// Problem says why the entry cannot be used; "": it can.
	Problem string `json:"-"`
}

// ReadConfig parses the file format that clients use: {"mcpServers": {name: {"command", "args", "env"} or
// {"url", "headers"}}}. It returns the servers in the file's order. Unknown fields are ignored; ${NAME} and
// ${NAME:-default} are replaced by environment variables. An entry that cannot be used has a Problem, which says why; it
// is no error, because the other servers work.
func ReadConfig(raw []byte, lookup func(name string) (string, bool)) ([]Config, error) {
	var file struct {
		Servers orderedServers `json:"mcpServers"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), &file); err != nil {
		return nil, fmt.Errorf("the configuration is not JSON of the form {\"mcpServers\": {...}}: %w", err)
	}
	var out []Config
	for _, s := range file.Servers {
		if s.Off {
			continue
		}
		if strings.TrimSpace(s.Name) == "" {
			return nil, fmt.Errorf("a server has an empty name")
		}
		if err := s.expand(lookup); err != nil && s.Problem == "" {
			s.Problem = err.Error()
		}
		switch {
		case s.Problem != "":
		case s.misplacesToken():
			s.Problem = "${subject.token:NAME} stands for a token in the values of env and headers only"
		case s.Command == "" && s.URL == "":
			s.Problem = "it has neither command nor url"
		case s.Command != "" && s.URL != "":
			s.Problem = "it has both command and url; keep one"
		case s.URL != "" && !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://"):
			s.Problem = "its url has to begin with http:// or https://"
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the configuration has no server under mcpServers")
	}
	return out, nil
}

// Limits are those of clients' connections to servers. What is 0 has a default.
type Limits struct {
	Max  int           // of all clients
	Each int           // of one
	Idle time.Duration // the time without calls after which one is closed
}

// ReadLimits parses the limits in a configuration: {"connections": {"max", "max_each", "idle_s"}}.
func ReadLimits(raw []byte) (Limits, error) {
	var file struct {
		Connections struct {
			Max  int `json:"max"`
			Each int `json:"max_each"`
			Idle int `json:"idle_s"`
		} `json:"connections"`
	}
	err := json.Unmarshal(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), &file)
	if c := file.Connections; err != nil || min(c.Max, c.Each, c.Idle) < 0 {
		return Limits{}, errors.New("max, max_each and idle_s of connections have to be whole numbers of at least 1")
	}
	return Limits{file.Connections.Max, file.Connections.Each, time.Duration(file.Connections.Idle) * time.Second}, nil
}

// orderedServers keeps the order of the file's entries, which is the order of the list of tools.
type orderedServers []Config

// UnmarshalJSON implements json.Unmarshaler.
func (o *orderedServers) UnmarshalJSON(raw []byte) error {
	d, all, err := jsonspan.Parse(raw)
	if err != nil || !all.IsObject(raw) {
		return fmt.Errorf("mcpServers is not an object")
	}
	seen := map[string]bool{}
	return d.Fields(all, func(name []byte, v jsonspan.Span) error {
		var s Config
		if err := json.Unmarshal(v.Of(raw), &s); err != nil {
			s = Config{Problem: "it cannot be read: " + shapeOf(err)}
		}
		s.Name = jsonspan.Unquote(name)
		if seen[s.Name] {
			return fmt.Errorf("server %s is there twice", s.Name)
		}
		seen[s.Name] = true
		*o = append(*o, s)
		return nil
	})
}

// shapeOf describes the fault of an entry in the words of its file.
func shapeOf(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	want := map[reflect.Kind]string{reflect.String: "a text", reflect.Slice: "a list", reflect.Map: "an object", reflect.Struct: "an object", reflect.Bool: "true or false"}
	name := cmp.Or(wrong.Field, "the entry")
	return fmt.Sprintf("%s has to be %s, not a value of type %s", name, want[wrong.Type.Kind()], wrong.Value)
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`) })

// expand replaces variables. A variable that is missing and has no default is an error, because the server
// would otherwise silently get a wrong path or token.
func (s *Config) expand(lookup func(string) (string, bool)) error {
	var missing string
	replace := func(text string) string {
		return variable().ReplaceAllStringFunc(text, func(m string) string {
			parts := variable().FindStringSubmatch(m)
			if value, ok := lookup(parts[1]); ok && value != "" {
				return value
			}
			if parts[2] == "" {
				missing = parts[1]
			}
			return parts[3]
		})
	}
	s.Command, s.URL, s.Cwd = replace(s.Command), replace(s.URL), replace(s.Cwd)
	for i := range s.Args {
		s.Args[i] = replace(s.Args[i])
	}
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for key, value := range values {
			values[key] = replace(value)
		}
	}
	if missing != "" {
		return fmt.Errorf("the variable %s is not set; set it or write ${%s:-default}", missing, missing)
	}
	return nil
}
