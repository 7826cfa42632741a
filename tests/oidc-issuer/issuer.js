// An OpenID Connect issuer for tests, on loopback, with the pages that oidc-provider has for development. Anybody may sign in as anybody.
// usage: node issuer.js PORT
import { Provider } from 'oidc-provider'

const port = Number(process.argv[2])

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{
    client_id: 'fullbench',
    client_secret: 'fullbench-test-secret',
    redirect_uris: ['http://127.0.0.1:8787/v1/session/oidc/callback'],
  }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  cookies: { keys: ['only for tests'] },
  pkce: { required: () => true },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, name: id }),
  }),
})

provider.listen(port, '127.0.0.1', () => console.log('ready'))
