package hook

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// maxInput is the largest number of bytes of a client's message.
const maxInput = 64 << 20

// message is a client's message.
type message struct {
	client   *agent.Client
	object   agent.Message
	bytes    int // of the message
	occasion agent.Occasion
	call     agent.Call
	tool     history.ToolCall // what the call does
}

// read reads a message. ok is false if it is too long, or cannot be read.
func read(c *agent.Client, in io.Reader) (msg message, ok bool) {
	raw, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil || len(raw) > maxInput {
		return message{}, false
	}
	msg = message{client: c, bytes: len(raw), object: object(raw)}
	msg.call, msg.occasion = c.Hooks.Read(msg.object, kindOf)
	msg.tool = history.ParseCall(msg.call.Tool, msg.call.Args)
	return msg, true
}

// kindOf returns the kind of a tool.
func kindOf(tool string) string { return string(history.KindOf(tool)) }

// longString is the size in bytes from which a string of a message is decoded here. encoding/json looks at each byte three
// times and copies the text twice, which took a sixth of a hook's time for a result of 1 MB.
const longString = 16 << 10

// placeholder begins what stands in a message for a long string while encoding/json decodes the rest.
const placeholder = "mcp-pruner long string "

// object decodes a message. It returns nil if that is not a JSON object.
func object(message []byte) agent.Message {
	if short, long, ok := withoutLong(message); ok {
		if m := plainObject(short); m != nil && (&filler{long: long}).fill(m) {
			return m
		}
	}
	return plainObject(message)
}

func plainObject(message []byte) agent.Message {
	var m agent.Message
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	return m
}

// withoutLong returns a message with placeholders for its long strings, and these. ok is false if there are none, or if the
// message is not so plain that nothing can go wrong.
func withoutLong(message []byte) (short []byte, long []string, ok bool) {
	rest := message
	for {
		start := bytes.IndexByte(rest, '"')
		if start < 0 {
			break
		}
		end := stringEnd(rest[start+1:])
		if end < 0 {
			return nil, nil, false
		}
		text := rest[start+1 : start+1+end]
		short = append(short, rest[:start]...)
		rest = rest[start+end+2:]
		if len(text) < longString {
			short = append(append(append(short, '"'), text...), '"')
			continue
		}
		decoded, ok := unquoted(text)
		if !ok {
			return nil, nil, false
		}
		short = strconv.AppendQuote(short, placeholder+strconv.Itoa(len(long)))
		long = append(long, decoded)
	}
	return append(short, rest...), long, len(long) > 0
}

// stringEnd returns the length of a string without its quotes, or -1 if it has no end.
func stringEnd(text []byte) int {
	for at := 0; ; at++ {
		next := bytes.IndexByte(text[at:], '"')
		if next < 0 {
			return -1
		}
		at += next
		if escapes := at - len(bytes.TrimRight(text[:at], `\`)); escapes%2 == 0 {
			return at
		}
	}
}

// unquoted decodes a string without its quotes. ok is false if it is none, or one that only encoding/json knows how to read.
func unquoted(text []byte) (decoded string, ok bool) {
	if !utf8.Valid(text) || hasControl(text) {
		return "", false
	}
	var out strings.Builder
	out.Grow(len(text))
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 {
			out.Write(text)
			return out.String(), true
		}
		out.Write(text[:at])
		r, size := escaped(text[at:])
		if size == 0 {
			return "", false
		}
		out.WriteRune(r)
		text = text[at+size:]
	}
}

// escapes are the letters after a backslash, each before the character that it stands for.
const escapes = "n\nt\tr\r\"\"\\\\//b\bf\f"

// escaped decodes the escape sequence at the beginning of a text. Its size is 0 if it is none, or half of a character.
func escaped(text []byte) (r rune, size int) {
	if len(text) < 2 {
		return 0, 0
	}
	if text[1] != 'u' {
		for i := 0; i < len(escapes); i += 2 {
			if escapes[i] == text[1] {
				return rune(escapes[i+1]), 2
			}
		}
		return 0, 0
	}
	if len(text) < 6 {
		return 0, 0
	}
	code, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil || !utf8.ValidRune(rune(code)) {
		return 0, 0
	}
	return rune(code), 6
}

// hasControl reports whether a text contains a control character, which JSON allows in a string only as an escape. It tests eight
// bytes at a time.
func hasControl(text []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(text) >= 8; text = text[8:] {
		w := binary.LittleEndian.Uint64(text)
		if (w-ones*' ')&^w&tops != 0 {
			return true
		}
	}
	return bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' })
}

// filler puts long strings where their placeholders are.
type filler struct {
	long   []string
	filled int
}

// fill reports whether each string has found its place: it has none in the name of a member, nor in a member that another
// one of the same name replaces.
func (f *filler) fill(m map[string]any) bool {
	f.value(m)
	return f.filled == len(f.long)
}

func (f *filler) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = f.value(member)
		}
	case []any:
		for i, item := range v {
			v[i] = f.value(item)
		}
	case string:
		number, is := strings.CutPrefix(v, placeholder)
		if n, err := strconv.Atoi(number); is && err == nil && n >= 0 && n < len(f.long) {
			f.filled++
			return f.long[n]
		}
	}
	return v
}
