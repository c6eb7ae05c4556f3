// Package results holds real results of clients' tools and what each door leaves of them: the hook, this program's
// server or gateway, the proxy, and the verb prune. A file of testdata/results is one result. Its test passes the
// result through every door, compares with the file, and checks what a golden file must never bless: the lines that
// answer the question are there, no output is empty, every kept line stands in its place with its true number, every
// gap is counted, and no row stands without its heading.
package results
