package structure

import "github.com/mcp-pruner/mcp-pruner/tools/jsonspan"

// Span is a range of bytes, End excluded.
type Span struct{ Start, End int }

// Records returns the records of the JSON in a text, in order, without the commas between them; a member of an object
// begins with its key. It returns nil if the text has no list.
func Records(text string) (records []Span) {
	values := jsonspan.Find([]byte(text))
	for i, isRecord := range areRecords(values) {
		if isRecord {
			records = append(records, Span{int(values[i].Member), int(values[i].End)})
		}
	}
	return records
}

// areRecords reports for every value of a text whether it is a record, that is, in one of the outermost lists. A list is
// an array of at least two elements that are all objects or arrays, or an object of at least three members that are all
// objects, such as the services of a compose file. If there is none, arrays of at least two other values count. What is
// nested in a record belongs to the record.
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
