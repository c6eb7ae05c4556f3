package restriction

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// The fields of an entry that the gateway carries over, by the form of the client's file. Without those that only allow,
// a client asks more often, and a description changes nothing.
var (
	carried     = []string{"type", "command", "args", "env", "cwd", "url", "httpUrl", "headers", "disabled", "trust", "autoApprove", "alwaysAllow", "description"}
	carriedList = []string{"type", "command", "environment", "url", "headers", "enabled"}
	carriedTOML = []string{"command", "args", "env", "env_vars", "cwd", "url", "bearer_token_env_var", "http_headers", "env_http_headers", "enabled"}
)

// Lacking says what the gateway would lack to run a server as its client does, or returns "": a field that it does not carry over,
// such as a time limit or a file with variables, or a text in which the client may replace something that the gateway does not.
func Lacking(c *agent.Client, entry map[string]any) string {
	fields := carried
	switch {
	case c.Files.Servers.As == agent.TOML:
		fields = carriedTOML
	case c.Servers.CommandList:
		fields = carriedList
	}
	for _, name := range sortedKeys(entry) {
		switch {
		case entry[name] == nil || name == "description":
		case !slices.Contains(fields, name):
			return fmt.Sprintf("the gateway does not carry over its %s", name)
		case variable(c, entry[name]):
			return fmt.Sprintf("its %s has what looks like a variable, which the gateway would not replace as %s does", name, c.Title)
		}
	}
	return ""
}

// mark matches what begins a variable or the name of a file in a text: $NAME, ${NAME}, ${env:NAME}, {env:NAME}, {file:PATH}, %NAME%.
var mark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$|\{(env|file):|%[A-Za-z_][A-Za-z0-9_]*%`) })

// variable reports whether a value has a text in which the client and the gateway may not replace the same.
func variable(c *agent.Client, value any) bool {
	switch value := value.(type) {
	case string:
		if c.Servers.Variables != nil {
			value = c.Servers.Variables.ReplaceAllString(value, "")
		}
		if c.Servers.Literal {
			return strings.Contains(value, "${") // the gateway may replace it
		}
		return mark().MatchString(value)
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return variable(c, v) })
	case map[string]any:
		return slices.ContainsFunc(sortedKeys(value), func(name string) bool { return variable(c, value[name]) })
	}
	return false
}
