package structure

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Each listing has a line per row: its heading, counted from 1 (0: none), a colon and the line.
var listings = map[string]string{
	"titles between rules": `0:before
0:=== PR 7 ===
2:  checks: 3 passed
2:
0:=== PR 8 ===
5:  checks: 1 failed`,
	"files of tail": `0:==> a.log <==
1:one
1:
0:==> b.log <==
4:two`,
	"titles in titles": `0:## web
1:--- limits
2:memory
1:--- ports
4:80
0:## db
6:--- limits
7:cpu`,
	"git status": `0:On branch main
1:Changes not staged for commit:
2:  (use "git add <file>..." to update what will be committed)
2:	modified:   a.go
1:
1:Untracked files:
6:	b.go`,
	"go test": `0:=== RUN   TestA
1:starting
0:--- FAIL: TestA (0.00s)
3:    a_test.go:12: want 3
0:FAIL`,
	"a page's accessibility tree": `0:uid=1_0 RootWebArea "Page"
1:  uid=1_1 navigation "Site"
2:    uid=1_2 generic
2:      uid=1_3 link "Home"
1:  uid=1_4 link "Out"`,
	"a tree of folders": `0:.
0:├── cmd
2:│   ├── main.go
2:│   └── run.go
0:└── docs
5:    └── index.md`,
	"dependencies": `0:app:1.0
1:+- web:2.1
2:|  +- http:3
2:|  \- tls:1
1:\- log:4`,
	"ls -R": `0:./a:
1:x
1:y
0:
0:./b:
5:z`,
	"described records": `0:Name:  web-1
1:Node:  n1
1:Conditions:
3:  Ready  True
1:
1:Events: none
1:
0:Name:  web-2
8:Node:  n2`,
	"records between rules": `0:ID: 71 | File: a.go
1:the first
1:---
0:ID: 72 | File: b.go
4:the second`,
	"git log": `0:commit 1a2b3c4d5e6f
1:Author: Ann
1:
1:    why
0:commit 2b3c4d5e6f70
5:Author: Bob`,
	"a section of a file": `0:[servers]
1:host = a
0:[limits]
3:cpu = 2`,
	"jest": `0:FAIL src/a.test.ts
1:  ✕ adds (3 ms)
0:PASS src/b.test.ts
3:  ✓ removes`,
	"a compiler": `0:gcc -c a.c
0:a.c: In function 'f':
0:a.c:4:13: warning: unused
3:    4 |   int x;
0:gcc -c b.c`,
	"records of psql": `0:-[ RECORD 1 ]----
1:id     | 48001
0:-[ RECORD 2 ]----
3:id     | 48002`,
	"neither": `0:plain words
0:--verbose  says more
0:+++ 
0:2026-01-02 10:00:00 INFO served
0:--- 
0:- item`,
}

func TestHeadsOfListings(t *testing.T) {
	for name, listing := range listings {
		var lines []string
		var want []int32
		for row := range strings.SplitSeq(listing, "\n") {
			head, line, _ := strings.Cut(row, ":")
			number := int32(0)
			for _, c := range head {
				number = number*10 + c - '0'
			}
			lines, want = append(lines, line), append(want, number-1)
		}
		d := doc.New(strings.Join(lines, "\n"))
		got := Heads(d)
		for i := range got {
			if d.Blank(i) {
				got[i], want[i] = -1, -1
			}
		}
		require.Equal(t, want, got, name)
	}
}

// An item of a list within another belongs to that one, and the outermost to the page's section.
func TestHeadsOfItems(t *testing.T) {
	d := doc.New("# Page\n\n- table\n  - row 1\n    - cell\n    - button\n  - row 2\n    - cell\n\ntext")
	require.Equal(t, []int32{-1, 0, 0, 2, 3, 3, 2, 6, 0, 0}, PageHeads(d, Docs(d)))
	require.Equal(t, [][2]int{{3, 6}, {6, 8}}, SmallItems(d, 3))
	require.Equal(t, [][2]int{{2, 8}}, SmallItems(d, 8))
}

// Every heading stands above its lines, whatever the text.
func FuzzHeads(f *testing.F) {
	for _, listing := range listings {
		f.Add(listing)
	}
	f.Add(strings.Repeat("│   ├── a\n", 5) + "\xff\n\n[\n##\n=\n--- ---\nx:")
	f.Fuzz(func(t *testing.T, text string) {
		d := doc.New(text)
		for i, h := range Heads(d) {
			require.Less(t, int(h), i)
			require.False(t, h >= 0 && d.Blank(int(h)))
		}
	})
}
