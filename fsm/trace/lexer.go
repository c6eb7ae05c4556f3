package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

func (d *Decoder) has(text string) bool {
	end := d.at + len(text)
	if end > len(d.in) {
		d.breaksOff(d.strict && strings.HasPrefix(text, string(d.in[d.at:])))
		return false
	}
	if string(d.in[d.at:end]) != text {
		return false
	}
	d.at = end
	return true
}

func (d *Decoder) want(text string) {
	if !d.has(text) {
		d.bad = true
	}
}

func (d *Decoder) int() int64 {
	start := d.at
	for d.at < len(d.in) && (d.in[d.at] == '-' || d.in[d.at] >= '0' && d.in[d.at] <= '9') {
		d.at++
	}
	d.breaksOff(start == len(d.in))
	n, err := strconv.ParseInt(string(d.in[start:d.at]), 10, 64)
	d.refuse(d.strict && string(d.in[start:d.at]) != strconv.FormatInt(n, 10))
	if err != nil {
		d.bad = true
	}
	return n
}

func (d *Decoder) intAt(key string) int64 {
	d.want(key)
	return d.int()
}

func (d *Decoder) intIf(key string) int64 {
	if !d.has(key) {
		return 0
	}
	n := d.int()
	d.refuse(n == 0)
	return n
}

func (d *Decoder) string() string { return string(d.raw()) }

func (d *Decoder) stringAt(key string) string {
	d.want(key)
	return d.string()
}

func (d *Decoder) stringIf(key string) string {
	if !d.has(key) {
		return ""
	}
	s := d.string()
	d.refuse(s == "")
	return s
}

func (d *Decoder) common() string { return d.intern(d.raw()) }

func (d *Decoder) commonAt(key string) string {
	d.want(key)
	return d.common()
}

func (d *Decoder) commonIf(key string) string {
	if !d.has(key) {
		return ""
	}
	s := d.common()
	d.refuse(s == "")
	return s
}

// internLimit bounds how many strings a decoder keeps, in case a file is hostile.
const internLimit = 1 << 14

func (d *Decoder) intern(raw []byte) string {
	if s, ok := d.known[string(raw)]; ok {
		return s
	}
	s := string(raw)
	if len(d.known) < internLimit && len(s) <= 64 {
		d.known[s] = s
	}
	return s
}

// raw reads a JSON string. A string without escapes is returned as a slice of the line.
func (d *Decoder) raw() []byte {
	if d.at >= len(d.in) || d.in[d.at] != '"' {
		d.breaksOff(d.at == len(d.in))
		d.bad = true
		return nil
	}
	rest := d.in[d.at+1:]
	end := bytes.IndexByte(rest, '"')
	if end >= 0 && bytes.IndexByte(rest[:end], '\\') < 0 {
		d.refuse(d.strict && !isSpelled(rest[:end], string(rest[:end])))
		d.at += end + 2
		return rest[:end]
	}
	return d.escaped()
}

func (d *Decoder) escaped() []byte {
	end := d.at + 1
	for end < len(d.in) && d.in[end] != '"' {
		if d.in[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(d.in) {
		d.breaksOff(d.strict && beginsString(d.in[d.at+1:]))
		d.bad = true
		return nil
	}
	var s string
	if json.Unmarshal(d.in[d.at:end+1], &s) != nil {
		d.bad = true
	}
	d.refuse(d.strict && !isSpelled(d.in[d.at+1:end], s))
	d.at = end + 1
	return []byte(s)
}
