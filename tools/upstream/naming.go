package upstream

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// An exposed tool is called <server>_<tool>, with one server too. The part before the first "_" stands for the server
// and is different for every server of a gateway, so a name never depends on other servers and can never come to mean
// a tool of another one.

const (
	// maxName is the maximum length of an exposed tool's name. Model APIs accept 64 characters, and clients add a
	// prefix of their own.
	maxName = 40

	// maxPrefix is the maximum length of the part of a name that stands for the server.
	maxPrefix = 20
)

// Reserved are the names of this program's own tools. No tool of a server is exposed under one of them.
var Reserved = WordSet(`read bash grep prune_text recover_text recover_range find context_get context_search
	context_gc_analyze context_gc_prune context_gc_pin context_gc_unpin`)

// serverPrefix returns the part of exposed names that stands for a server or its namespace: lower-case letters, digits and
// "-". It contains no "_". A name with other letters, and a long one, gets a hash.
func serverPrefix(server string) string {
	lossy := false
	folded := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		lossy = lossy || r > '~'
		return '-'
	}, server)
	folded = strings.Join(strings.FieldsFunc(folded, func(r rune) bool { return r == '-' }), "-")
	if folded != "" && !lossy && len(folded) <= maxPrefix {
		return folded
	}
	mark := hashOf(shortMark, server)
	folded = strings.TrimRight(folded[:min(len(folded), maxPrefix-shortMark-1)], "-")
	if folded == "" {
		folded = "server"
	}
	return folded + "-" + mark
}

// CheckPrefixes returns an error if the names of two servers, or the namespaces that their mappings give, have the same
// prefix.
func CheckPrefixes(servers []Server) error {
	owner := map[string]string{}
	for _, s := range servers {
		prefix := serverPrefix(s.mapping().Namespace)
		if other, taken := owner[prefix]; taken {
			return fmt.Errorf("the servers %q and %q would both be %q in the names of their tools; rename one of them, "+
				"or give one another namespace in the mapping file", other, s.Name, prefix)
		}
		owner[prefix] = s.Name
	}
	return nil
}

// Lengths of hashes in characters.
const (
	shortMark = 6
	longMark  = 16 // where a short one was not enough
)

func hashOf(length int, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])[:length]
}

// naming makes the names of one server's exposed tools.
type naming struct {
	server string
	prefix string
	bare   bool // for the only server of a gateway: no prefix
	exact  bool // no name is changed, whatever it is
}

func (s Server) naming(bare, exact bool) naming {
	return naming{s.Name, serverPrefix(s.mapping().Namespace), bare, exact}
}

// tool returns the name of a tool that is not grouped. It keeps the spelling that the server gave it.
func (n naming) tool(name string) string {
	if n.exact {
		return name
	}
	plain := name
	if !validName(name, len(name)) {
		plain = plainWords(name)
	}
	return n.join(plain, name, plain == name)
}

// group returns the name of a grouped tool. Without words it is the prefix alone.
func (n naming) group(nouns ...string) string {
	whole := strings.Join(nouns, "_")
	plain := plainWords(whole)
	return n.join(plain, whole, plain == strings.Join(splitName(whole), "_"))
}

// renamed returns the name that an operator gave a tool, after the prefix if it does not begin with it.
func (n naming) renamed(name string) string {
	return n.tool(strings.TrimPrefix(name, n.prefix+"_"))
}

// join returns the name for a part. If the part is not exactly the original, or the name is too long or reserved, it
// gets a hash of the server and the original.
func (n naming) join(part, original string, exact bool) string {
	name := part
	switch {
	case part == "":
		name = n.prefix
	case !n.bare:
		name = n.prefix + "_" + part
	}
	if exact && len(name) <= maxName && !Reserved[name] {
		return name
	}
	return marked(name, shortMark, n.server, original)
}

// marked returns a name with a hash of parts at its end.
func marked(name string, length int, parts ...string) string {
	return strings.TrimRight(name[:min(len(name), maxName-length-1)], "_-") + "_" + hashOf(length, parts...)
}

// plainWords returns the words of a name joined by "_", without the characters that are not ASCII.
func plainWords(name string) string {
	ascii := func(r rune) rune {
		if r > '~' {
			return -1
		}
		return r
	}
	return strings.Trim(strings.Map(ascii, strings.Join(splitName(name), "_")), "_")
}

// plainName builds a name of at most maxName characters from [a-z0-9_] words. A longer name
// is cut and gets a hash, so that two long names stay different.
func plainName(name string) string {
	plain := plainWords(name)
	if plain != "" && plain == strings.Join(splitName(name), "_") && len(plain) <= maxName {
		return plain
	}
	return marked(orElse(plain, "tool"), shortMark, name)
}

// validName reports whether clients and model APIs accept the name unchanged.
func validName(name string, longest int) bool {
	if name == "" || len(name) > longest {
		return false
	}
	for _, r := range name {
		if !(r == '_' || r == '-' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return false
		}
	}
	return true
}
