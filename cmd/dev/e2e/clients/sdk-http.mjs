// Drives a server over streamable HTTP with the official client, and prints what
// it saw: sdk-http.mjs SDK URL, where SDK is the folder of @modelcontextprotocol/sdk
import { pathToFileURL } from 'node:url'

const [sdk, url] = process.argv.slice(2)
const part = (name) => import(pathToFileURL(`${sdk}/dist/esm/${name}.js`))
const { Client } = await part('client/index')
const { StreamableHTTPClientTransport } = await part('client/streamableHttp')
const { CallToolResultSchema } = await part('types')

const client = new Client({ name: 'sdk-e2e', version: '1' })
const transport = new StreamableHTTPClientTransport(new URL(url))
const seen = { errors: [], progress: 0 }
client.onerror = (e) => seen.errors.push(String(e))
await client.connect(transport)
seen.session = transport.sessionId !== undefined
seen.server = client.getServerVersion().name
seen.tools = (await client.listTools()).tools.map((t) => t.name)

const call = (name, args, options) => client.callTool({ name, arguments: args }, CallToolResultSchema, options)
const question = { context_focus_question: 'how often is it tried?' }
seen.pruned = (await call('read', { file_path: 'retry.go', ...question })).content[0].text
seen.missing = (await call('read', { file_path: 'missing.go' })).isError
seen.refused = await call('read', { file_path: '' }).catch((e) => ({ code: e.code, data: e.data }))

// A call that takes long reports that it is still at work.
const long = await call('bash', { command: 'sleep 6; echo done' }, { onprogress: () => seen.progress++ })
seen.long = long.content[0].text

// A call that is cancelled leaves no command behind, and the client goes on.
const abort = new AbortController()
const cancelled = call('bash', { command: 'touch started; sleep 616.25' }, { signal: abort.signal }).catch((e) => String(e))
while ((await call('bash', { command: 'test -e started' })).isError) await new Promise((go) => setTimeout(go, 20))
abort.abort('enough')
seen.cancelled = await cancelled
const sleeping = 'pkill -0 -f "^sleep 616.25$"'
seen.left = (await call('bash', {
  command: `for i in $(seq 100); do ${sleeping} || break; sleep 0.05; done; ${sleeping} && echo alive; rm started`,
})).content[0].text
await client.close()
console.log(JSON.stringify(seen))
