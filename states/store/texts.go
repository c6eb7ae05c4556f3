package store

import "context"

// addText is the part of a WITH that stores a text of a subject, unless it is there: $1 is the subject, $2 the hash, $3 the
// size in bytes, $4 the text.
const addText = `text AS (INSERT INTO mcp_pruner.texts (subject, hash, bytes, body) VALUES ($1, $2, $3, $4) ON CONFLICT (subject, hash) DO NOTHING)`

// dropTexts removes those of an owner's texts that nothing names any more.
func dropTexts(ctx context.Context, q querier, of owner, hashes [][]byte) error {
	statement := `DELETE FROM texts WHERE hash = ANY($2) AND NOT EXISTS (SELECT 1 FROM segments WHERE segments.hash = texts.hash)`
	if q.shared() {
		statement = `DELETE FROM mcp_pruner.texts t WHERE t.subject = $1 AND t.hash = ANY($2)
			AND NOT EXISTS (SELECT 1 FROM mcp_pruner.originals o WHERE o.subject = t.subject AND o.hash = t.hash)
			AND NOT EXISTS (SELECT 1 FROM mcp_pruner.segments s WHERE s.subject = t.subject AND s.hash = t.hash)`
	}
	_, err := q.exec(ctx, statement, of, hashes)
	return err
}
