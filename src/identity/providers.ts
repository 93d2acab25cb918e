// Creates the identity providers that a configuration names.

import type { Config } from '../config/types.ts'
import { createGithub } from './github.ts'
import { createOidc } from './oidc.ts'
import type { IdentityProvider, ProviderClient } from './provider.ts'

const google = 'https://accounts.google.com'

export function createProviders(
  { providers }: Config['identity'],
  ask: ProviderClient,
): readonly IdentityProvider[] {
  return providers.map(({ id, kind, name, issuer, baseUrl, clientId, clientSecret }) => {
    const client = { id, clientId, clientSecret }
    switch (kind ?? id) {
      case 'github':
        return createGithub({ ...client, name: name ?? 'GitHub', baseUrl }, ask)
      case 'google':
        return createOidc({ ...client, name: name ?? 'Google', issuer: baseUrl ?? google }, ask)
      default:
        return createOidc({ ...client, name: name ?? id, issuer: issuer ?? '' }, ask)
    }
  })
}
