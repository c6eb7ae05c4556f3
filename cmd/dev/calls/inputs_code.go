package calls

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// code returns the makers of source files. One of them is minified.
func code() map[string]maker {
	return map[string]maker{
		"src/client.go":       goClient,
		"src/parser.cpp":      cppParser,
		"src/cache.py":        pyCache,
		"src/store.ts":        tsStore,
		"src/queue.rs":        rustQueue,
		"dist/app.min.js":     minified,
		"src/Billing.java":    javaBilling,
		"src/dial/callers.go": callers,
	}
}

// goFunc returns a method that no question is about.
func goFunc(r *rand.Rand, receiver string, i int) string {
	n, m := noun(r), noun(r)
	return fmt.Sprintf(`// %[1]s%[5]d looks at the %[2]s of a %[3]s.
func (%[4]s) %[1]s%[5]d(%[2]s string) (int, error) {
	if %[2]s == "" {
		return 0, errors.New("no %[2]s")
	}
	total := 0
	for i, part := range strings.Split(%[2]s, "/") {
		total += len(part) * i
	}
	return total, nil
}

`, name(r), n, m, receiver, i)
}

func goClient(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("package client\n\nimport (\n\t\"errors\"\n\t\"strings\"\n\t\"time\"\n)\n\n")
	for i := range 60 {
		b.WriteString(goFunc(r, "c *Client", i))
		if i == 38 {
			b.WriteString(`// send tries a request until it succeeds or the retries are used up.
func (c *Client) send(request *Request) error {
	wait := 200 * time.Millisecond
	for attempt := 0; attempt <= c.maxRetries; attempt++ {
		err := c.once(request)
		if err == nil || !temporary(err) {
			return err
		}
		time.Sleep(wait)
		wait = min(2*wait, 10*time.Second)
	}
	return errRetriesUsedUp
}

`)
		}
	}
	return b.String()
}

func cppParser(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("#include \"parser.h\"\n#include <string>\n\nnamespace shop {\n\n")
	for i := range 50 {
		fmt.Fprintf(&b, "int Parser::%s%d(const std::string &%s, int depth) {\n  int %s = depth;\n  while (more() && %s < limit_) {\n    ++%s;\n    advance();\n  }\n  return %s;\n}\n\n", strings.ToLower(pick(r, verbWords...)), i, noun(r), "n", "n", "n", "n")
		if i == 29 {
			b.WriteString("void Parser::rewind(size_t mark) {\n  if (mark > position_)\n    throw std::out_of_range(\"rewind past the position\");\n  position_ = mark;\n  lookahead_.clear();\n  tokens_.resize(tokenCountAt(mark));\n}\n\n")
		}
	}
	return b.String() + "}  // namespace shop\n"
}

func pyCache(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("\"\"\"Caches of the shop.\"\"\"\nimport time\nfrom collections import OrderedDict\n\n\nclass Cache:\n    def __init__(self, size):\n        self.size = size\n        self.entries = OrderedDict()\n\n")
	for i := range 55 {
		n := noun(r)
		fmt.Fprintf(&b, "    def %s_%s_%d(self, %s):\n        \"\"\"Says which %s belongs to the %s.\"\"\"\n        found = []\n        for key, value in self.entries.items():\n            if key.startswith(%s):\n                found.append(value)\n        return found\n\n", strings.ToLower(pick(r, verbWords...)), n, i, n, noun(r), n, n)
		if i == 20 {
			b.WriteString("    def invalidate(self, prefix, older_than=None):\n        \"\"\"Drops the entries below a prefix, or only those older than a time.\"\"\"\n        for key in [k for k in self.entries if k.startswith(prefix)]:\n            if older_than is None or self.entries[key].created < older_than:\n                del self.entries[key]\n                self.listeners.notify(\"invalidated\", key)\n\n")
		}
	}
	return b.String()
}

func tsStore(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("/**\n * Keeps the basket of a visitor in the browser and in step with the server.\n */\nimport { api } from './api'\n\nexport interface Basket {\n  id: string\n  items: Item[]\n}\n\n")
	for i := range 45 {
		n := noun(r)
		fmt.Fprintf(&b, "export async function %s%s%d(%s: string): Promise<number> {\n  const answer = await api.get(`/%ss/${%s}`)\n  if (!answer.ok) {\n    throw new Error('no %s')\n  }\n  return answer.body.total * %d\n}\n\n", strings.ToLower(pick(r, verbWords...)), title(n), i, n, n, n, n, r.IntN(90))
	}
	return b.String()
}

func rustQueue(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("use std::collections::VecDeque;\n\npub struct Queue {\n    waiting: VecDeque<Job>,\n    limit: usize,\n}\n\nimpl Queue {\n")
	for i := range 45 {
		n := noun(r)
		fmt.Fprintf(&b, "    /// The %s of a %s.\n    pub fn %s_%s_%d(&self, %s: &str) -> usize {\n        let mut total = 0;\n        for part in %s.split('/') {\n            total += part.len();\n        }\n        total\n    }\n\n", noun(r), n, strings.ToLower(pick(r, verbWords...)), n, i, n, n)
		if i == 31 {
			b.WriteString("    /// Adds a job, or hands it back when the queue is full.\n    pub fn push(&mut self, job: Job) -> Result<(), Job> {\n        if self.waiting.len() >= self.limit {\n            return Err(job);\n        }\n        self.waiting.push_back(job);\n        Ok(())\n    }\n\n")
		}
	}
	return b.String() + "}\n"
}

func javaBilling(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("package org.shop;\n\nimport java.math.BigDecimal;\n\npublic class Billing {\n")
	for i := range 50 {
		n := noun(r)
		fmt.Fprintf(&b, "    public int %s%s%d(String %s) {\n        int total = 0;\n        for (String part : %s.split(\"/\")) {\n            total += part.length();\n        }\n        return total;\n    }\n\n", strings.ToLower(pick(r, verbWords...)), title(n), i, n, n)
		if i == 12 {
			b.WriteString("    /** Rounds half up to cents, as the tax office wants it. */\n    BigDecimal roundTax(BigDecimal net, BigDecimal rate) {\n        return net.multiply(rate).setScale(2, RoundingMode.HALF_UP);\n    }\n\n")
		}
	}
	return b.String() + "}\n"
}

func minified(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("!function(e,t){")
	for i := range 2500 {
		fmt.Fprintf(&b, "function %s%d(e,t){return e.%s(t)||%d*t.%s}", pick(r, "a", "b", "c", "d"), i, noun(r), r.IntN(900), noun(r))
	}
	b.WriteString("function debounce(e,t){var n;return function(){clearTimeout(n),n=setTimeout(e,t)}}")
	for i := range 500 {
		fmt.Fprintf(&b, "function z%d(e){return e.%s}", i, noun(r))
	}
	return b.String() + "}();\n"
}

// callers names DialContext fifty times: 47 times in comments and three times in calls.
func callers(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("package dial\n\nimport \"net\"\n\n")
	for i := range 47 {
		fmt.Fprintf(&b, "// %s%d is like DialContext, for a %s.\ntype %s%d struct{ %s int }\n\n", name(r), i, noun(r), name(r), i, noun(r))
		if i%16 == 9 {
			fmt.Fprintf(&b, "func connect%d(d *net.Dialer, a string) (net.Conn, error) {\n\treturn d.DialContext(ctx, \"tcp\", a)\n}\n\n", i)
		}
	}
	return b.String()
}
