package structure

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Lines that open a definition, by language, with the name that they define.
func TestDefinitionsByLanguage(t *testing.T) {
	for language, lines := range map[string][][2]string{
		"Go":         {{"func (c *Client) Do(ctx context.Context) error {", "Do"}},
		"Python":     {{"def parse(line):", "parse"}, {"    async def fetch(self, url):", "fetch"}},
		"Rust":       {{"pub(crate) fn read_all<R: Read>(r: R) -> usize {", "read_all"}},
		"JavaScript": {{"export default class NoteStore extends Base {", "NoteStore"}, {"const open = (path) => {", "open"}},
		"Java":       {{"public static <T> List<T> of(T... items) {", "of"}, {"interface Reader {", "Reader"}},
		"C": {
			{"static int ring_push(struct ring *r, char c) {", "ring_push"},
			{"CJSON_PUBLIC(cJSON *) cJSON_Parse(const char *v) {", "CJSON_PUBLIC"},
		},
		"C++": {
			{"void Ledger::close(int id) {", "close"},
			{"template <typename T> class RingBuffer {", "RingBuffer"},
			{"class Parser final : public Base {", "Parser"},
			{"struct Point {", "Point"},
			{"namespace net::http {", "net"},
			{"enum class Color : uint8_t {", "Color"},
			{"std::vector<int> Parser::tokens(const std::string& s) const {", "tokens"},
			{"Parser::~Parser() {", "Parser"},
			{"explicit Parser(std::istream& in) : in_(in) {", "Parser"},
			{"bool operator==(const Point& a, const Point& b) {", "operator"},
			{"static inline int clamp(int v, int lo, int hi) {", "clamp"},
			{"auto Parser::next() -> Token {", "next"},
			{"constexpr int size() const noexcept {", "size"},
			{"virtual void draw() override {", "draw"},
		},
		"Haskell": {
			{"parse :: String -> Maybe Int", "parse"},
			{"foldTree :: (a -> b) -> Tree a -> b", "foldTree"},
			{"data Shape = Circle Double | Square Double", "Shape"},
			{"newtype Parser a = Parser { run :: String -> a }", "Parser"},
			{"instance Show Shape where", "Show"},
			{"class Monad m => Logger m where", "Monad"},
			{"type Name = String", "Name"},
		},
		"Kotlin": {
			{"fun release(slot: Int): Boolean {", "release"},
			{"suspend fun refund(id: Long): Boolean =", "refund"},
			{"private suspend fun <T> List<T>.second(): T = this[1]", "second"},
			{"data class Parcel(val id: Int)", "Parcel"},
			{"sealed interface Shape", "Shape"},
			{"object Registry {", "Registry"},
			{"companion object Factory {", "Factory"},
			{"override fun toString() = \"x\"", "toString"},
		},
		"Swift": {
			{"func load(from url: URL) throws -> Data {", "load"},
			{"public final class Cache<Key: Hashable> {", "Cache"},
			{"extension Array where Element == Int {", "Array"},
			{"protocol Drawable: AnyObject {", "Drawable"},
			{"enum State: String {", "State"},
			{"init(name: String) {", "init"},
			{"convenience init?(raw: Int) {", "init"},
			{"@objc func tapped() {", "tapped"},
			{"nonmutating func push(_ x: Int) {", "push"},
			{"mutating func drain() -> Int {", "drain"},
			{"actor Counter {", "Counter"},
			{"subscript(index: Int) -> Int {", "subscript"},
			{"static func == (a: P, b: P) -> Bool {", ""},
			{"deinit {", "deinit"},
			{"var count: Int {", "count"},
		},
		"SQL": {
			{"CREATE TABLE IF NOT EXISTS orders (", "orders"},
			{"create or replace function shop.close_order(id int)", "close_order"},
			{"CREATE UNIQUE INDEX idx_orders ON orders (id);", "idx_orders"},
			{"CREATE MATERIALIZED VIEW totals AS", "totals"},
			{"create trigger audit after update on orders", "audit"},
			{"CREATE TYPE mood AS ENUM ('sad');", "mood"},
			{"CREATE PROCEDURE settle()", "settle"},
		},
	} {
		for _, l := range lines {
			assert.True(t, IsDefinition(strings.TrimSpace(l[0]), nil), "%s: %s", language, l[0])
			assert.Equal(t, l[1], DefinedName(l[0]), "%s: %s", language, l[0])
		}
	}
}

func TestCallsAreNoDefinitions(t *testing.T) {
	for _, line := range []string{
		"actor.move(3)", "data = load()", "instance = cls()", "deinit()", "var total = 3", "@cached", "@app.route(\"/\")",
		"if (a) {", "return parse(x)", "} else {", "for (;;) {", "type = 3", "import os", "foo(bar);", "created x", "std::cout << \"x\";",
		"create(x);", "init();", "print(operator)", "template <typename T>", "init = func(x)", "return parse(x) {",
	} {
		assert.False(t, IsDefinition(line, nil), line)
	}
}

func TestALongTableIsNoHeading(t *testing.T) {
	assert.False(t, isHeading("<h3>"+strings.Repeat("a table on one line ", 20)+"</h3>", ""))
}

// The text of a heading, without tags. A page without line breaks is one line with very many of them.
func TestHeadingsAsMarkersNameThem(t *testing.T) {
	for line, want := range map[string]string{
		"## Setup": "Setup", "3.1. Setup": "Setup", `\section{Setup}`: "Setup", "<h2>Set <b>up</b></h2>": "Set  up", "# a < b": "a < b",
		"# " + strings.Repeat("<a>", 1<<19): "",
	} {
		_, text := HeadingText(line)
		assert.Equal(t, want, text, line[:min(len(line), 80)])
	}
}

// Lines that open a declaration, as the marker of a gap names it; and lines that only look like one.
func TestDeclarationsAsMarkersNameThem(t *testing.T) {
	for line, want := range map[string]string{
		"func (c *Client) Do(ctx context.Context) error {": "func Do",
		"type ref struct {":                              "type ref",
		"    async def fetch(self, url):":                "def fetch",
		"export default class NoteStore extends Base {":  "class NoteStore",
		"const open = (path) => {":                       " open()",
		"const click = useCallback(() => {":              " click()",
		"static int ring_push(struct ring *r, char c) {": " ring_push()",
		"  async save(note = {}): Promise<void> {":       " save()",
		"    47\tfunc parse(data []byte) error {":        "func parse", // nl -ba
		"CREATE TABLE users (":                           " users()",

		"    83\tif len(refs) > 0 {":   " ",
		"it('adds numbers', () => {":   " ",
		"expect(x).toEqual({":          " ",
		"shortHash(batch.ResumeHash),": " ",
		"Ok(value) => {":               " ",
		"go func() {":                  " ",
		"package main":                 " ",
	} {
		keyword, name := Declared(line)
		assert.Equal(t, want, keyword+" "+name, line)
	}
}
