// An OpenID provider for the tests: provider.mjs FOLDER PORT SECONDS. Each start has another key. An agent gets a JWT for the
// resource that it names, valid for that many seconds.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [folder, port, seconds] = process.argv.slice(2)
const { default: Provider } = await import(pathToFileURL(createRequire(folder + '/').resolve('oidc-provider')))
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: 'agent', client_secret: 'secret', grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' }] },
  scopes: ['mcp'],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, audience) => ({ scope: 'mcp', audience, accessTokenTTL: Number(seconds), accessTokenFormat: 'jwt' }),
    },
  },
})
provider.listen(Number(port), '127.0.0.1', () => console.log('listening'))
