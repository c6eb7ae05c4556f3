// Runs one query of the Agent SDK with the servers of an mcpServers record, and
// prints what became of it: agent-sdk.mjs SDK RECORD
import { pathToFileURL } from 'node:url'

const [sdk, record] = process.argv.slice(2)
const { query } = await import(pathToFileURL(sdk))

const seen = {}
for await (const message of query({
  prompt: 'how often is it tried?',
  options: {
    mcpServers: JSON.parse(record).mcpServers,
    allowedTools: ['mcp__pruner__*'],
    strictMcpConfig: true,
    settingSources: [],
    persistSession: false,
    env: process.env,
  },
})) {
  if (message.type === 'system' && message.subtype === 'init') {
    seen.status = message.mcp_servers.find((s) => s.name === 'pruner')?.status
  }
  if (message.type === 'result') seen.result = message.result
}
console.log(JSON.stringify(seen))
