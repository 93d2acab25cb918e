// The section of the file on identity providers.

import { z } from 'zod'
import { baseUrlExpected, isBaseUrl, withoutTrailingSlash } from './rules.ts'
import { checkedText, choice, key, secretText, section, text } from './schema-parts.ts'

const kinds = ['github', 'google', 'oidc'] as const

const provider = section({
  id: z
    .string('expected a name; put a number in quotes')
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'expected a name of small letters, digits and -')
    .meta({ description: 'Unique name of the provider; part of its callback address.' }),
  kind: key(
    choice(kinds),
    'Protocol of the provider; left out: as its id says, which must then be github, google or oidc.',
  ),
  name: key(text(), "Name on the sign-in button; left out: the provider's usual name, or its id."),
  issuer: key(
    checkedText(baseUrlExpected, isBaseUrl),
    'Issuer of a provider of kind oidc, exactly as its ID tokens state it; required for that kind.',
  ),
  baseUrl: key(
    checkedText(baseUrlExpected, isBaseUrl).transform(withoutTrailingSlash),
    "Address of a GitHub Enterprise Server, or of a replacement for Google; left out: the provider's public address.",
  ),
  clientId: text().meta({ description: 'Client id of this gateway at the provider.' }),
  clientSecret: secretText().meta({
    description: 'Client secret of this gateway at the provider.',
  }),
})
  .refine(({ id, kind }) => kinds.some((name) => name === (kind ?? id)), {
    path: ['kind'],
    message: `expected one of ${kinds.join(', ')}, because the id is none of them`,
  })
  .refine(({ id, kind, issuer }) => (kind ?? id) !== 'oidc' || issuer !== null, {
    path: ['issuer'],
    message: 'is required for a provider of kind oidc',
  })

export const identityProviders = z
  .array(provider, 'expected a list of providers')
  .refine(
    (list) => new Set(list.map(({ id }) => id)).size === list.length,
    'expected a different id for each provider',
  )
