package learned

import (
	"fmt"
	"strconv"
	"strings"
)

// The text format has these lines: comments that start with "#" and name the source of the weights; "base
// N", the constant; "features A|B|...", the features that nodes refer to by index. Every other line is one
// tree: its nodes as feature>threshold ("-" for a missing node), then its leaves.

// ParseForest parses what cmd/dev/train writes. names lists all features that exist now.
func ParseForest(text string, names []string) (*Forest, error) {
	index := map[string]int32{}
	for i, name := range names {
		index[name] = int32(i)
	}
	f := &Forest{Trees: make([]Tree, 0, strings.Count(text, "\n"))} // nearly every line is a tree
	var features []int32
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "#":
		case "base":
			base, err := strconv.ParseInt(rest, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("weights: base: %w", err)
			}
			f.Base = int32(base)
		case "features":
			for name := range strings.SplitSeq(rest, "|") {
				i, ok := index[name]
				if !ok {
					return nil, fmt.Errorf("weights: no feature is called %q: train again", name)
				}
				features = append(features, i)
			}
		default:
			f.Trees = append(f.Trees, Tree{})
			if err := f.Trees[len(f.Trees)-1].parse(line, features); err != nil {
				return nil, fmt.Errorf("weights: tree %d: %w", len(f.Trees), err)
			}
		}
	}
	return f, nil
}

func (t *Tree) parse(line string, features []int32) (err error) {
	line = strings.TrimSpace(line)
	if n := strings.Count(line, " ") + 1; n != InnerNodes+Leaves {
		return fmt.Errorf("%d fields instead of %d", n, InnerNodes+Leaves)
	}
	for i := range t.Nodes {
		var field string
		field, line, _ = strings.Cut(line, " ")
		if t.Nodes[i], err = parseNode(field, features); err != nil {
			return err
		}
	}
	for i := range t.Leaf {
		var field string
		field, line, _ = strings.Cut(line, " ")
		if t.Leaf[i], err = number(field); err != nil {
			return err
		}
	}
	return nil
}

// number is strconv.ParseInt for numbers that mostly have few digits: every hook that prunes reads all of a forest's.
func number(field string) (int32, error) {
	digits := strings.TrimPrefix(field, "-")
	if len(digits) == 0 || len(digits) > 6 {
		v, err := strconv.ParseInt(field, 10, 32)
		return int32(v), err
	}
	n := int32(0)
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%q is no number", field)
		}
		n = 10*n + int32(c-'0')
	}
	if len(digits) < len(field) {
		n = -n
	}
	return n, nil
}

func parseNode(field string, features []int32) (Node, error) {
	if field == "-" {
		return Node{Threshold: Never}, nil
	}
	feature, threshold, _ := strings.Cut(field, ">")
	k, err := number(feature)
	if err != nil || k < 0 || int(k) >= len(features) {
		return Node{}, fmt.Errorf("no feature %q", feature)
	}
	v, err := number(threshold)
	return Node{features[k], v}, err
}
