package postgres

import "strings"

// Text returns a text as a column can hold it: with neither NUL nor invalid UTF-8. Texts that have to come back byte for
// byte are stored as bytea.
func Text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// DropTexts is the statement that removes those of a subject's texts that nothing names any more: $1 is the subject, and $2
// the hashes.
const DropTexts = `DELETE FROM mcp_pruner.texts t WHERE t.subject = $1 AND t.hash = ANY($2)
	AND NOT EXISTS (SELECT 1 FROM mcp_pruner.originals o WHERE o.subject = t.subject AND o.hash = t.hash)
	AND NOT EXISTS (SELECT 1 FROM mcp_pruner.segments s WHERE s.subject = t.subject AND s.hash = t.hash)`

// DropAllTexts is the statement that removes all of a subject's texts: $1 is the subject, $2 whether to do it.
const DropAllTexts = `DELETE FROM mcp_pruner.texts WHERE subject = $1 AND $2`

// AddText is the part of a WITH that stores a text of a subject, unless it is there: $1 is the subject, $2 the hash, $3 the
// size in bytes, $4 the text.
const AddText = `text AS (INSERT INTO mcp_pruner.texts (subject, hash, bytes, body) VALUES ($1, $2, $3, $4) ON CONFLICT (subject, hash) DO NOTHING)`
