-- All texts are rows. Nothing is removed from a database whose texts lie in a bucket: this version cannot read them.
DO $$ BEGIN
	IF EXISTS (SELECT 1 FROM mcp_pruner.texts WHERE object IS NOT NULL) THEN
		RAISE EXCEPTION 'texts of this database lie in a bucket, which this version cannot read: run the earlier version without MCP_PRUNER_STORE_BUCKET until they have expired, or remove them with its "mcp-pruner store forget"';
	END IF;
END $$;
ALTER TABLE mcp_pruner.texts DROP COLUMN object;
DROP TABLE mcp_pruner.dropped;
