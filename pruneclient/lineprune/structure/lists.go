package structure

import "github.com/mcp-pruner/mcp-pruner/tools/jsonspan"

// Span is a range of bytes, End excluded.
type Span struct{ Start, End int }

// jsonList is a list of records in a text.
type jsonList struct {
	Span           // the array or object that holds them, brackets included
	Keyed   bool   // the records are members of an object; each begins with its key
	Records []Span // in order, without the commas between them
}

// Records returns the records of the JSON in a text: those of all of its lists, in order. It returns nil if the
// text has no list.
func Records(text string) []Span {
	var all []Span
	for _, l := range jsonLists(text) {
		all = append(all, l.Records...)
	}
	return all
}

// jsonLists returns the outermost lists of the JSON in a text, in order. A list is an array of at least two
// elements that are all objects or arrays, or an object of at least three members that are all objects, such
// as the services of a compose file. If there is none, arrays of at least two other values count. What is
// nested in a record belongs to the record.
func jsonLists(text string) []jsonList {
	values := jsonspan.Find([]byte(text))
	var out []jsonList
	last := int32(-1) // the container of the last list
	for i, isRecord := range areRecords(values) {
		if !isRecord {
			continue
		}
		v := values[i]
		if v.Parent != last {
			list := values[v.Parent]
			out, last = append(out, jsonList{Span: Span{int(list.Start), int(list.End)}, Keyed: list.Kind == jsonspan.Object}), v.Parent
		}
		l := &out[len(out)-1]
		l.Records = append(l.Records, Span{int(v.Member), int(v.End)})
	}
	return out
}

// areRecords reports for every value of a text whether it is a record, that is, in a list in the sense of
// [jsonLists].
func areRecords(values []jsonspan.Value) []bool {
	contents := contentsOf(values)
	record, found := recordsIn(values, contents, content.isList)
	if !found {
		record, _ = recordsIn(values, contents, content.isArray)
	}
	return record
}

// content sums up the children of a container.
type content struct {
	kind                     jsonspan.Kind
	all, objects, containers int
	size, largest            int32 // bytes of the container and of its largest child
}

func contentsOf(values []jsonspan.Value) []content {
	contents := make([]content, len(values))
	for i, v := range values {
		contents[i].kind, contents[i].size = v.Kind, v.End-v.Start
		if v.Parent < 0 {
			continue
		}
		c := &contents[v.Parent]
		c.all++
		c.largest = max(c.largest, v.End-v.Start)
		if v.Holds() {
			c.containers++
		}
		if v.Kind == jsonspan.Object {
			c.objects++
		}
	}
	return contents
}

// isList reports whether a container holds records. An object of which one member has more than half is no
// list of similar things.
func (c content) isList() bool {
	if c.kind == jsonspan.Object {
		return c.all >= 3 && c.objects == c.all && c.largest <= c.size/2
	}
	return c.kind == jsonspan.Array && c.all >= 2 && c.containers == c.all
}

func (c content) isArray() bool { return c.kind == jsonspan.Array && c.all >= 2 }

// recordsIn marks the values whose container is a list that is in no other list. found reports whether there
// are any.
func recordsIn(values []jsonspan.Value, contents []content, isList func(content) bool) (record []bool, found bool) {
	record = make([]bool, len(values))
	const none, list, part = 0, 1, 2 // part: a record, or in one
	role := make([]uint8, len(values))
	for i, v := range values { // containers precede their content
		switch {
		case v.Parent >= 0 && role[v.Parent] != none:
			role[i] = part
			if role[v.Parent] == list {
				record[i], found = true, true
			}
		case isList(contents[i]):
			role[i] = list
		}
	}
	return record, found
}
