// The section of the file on identity providers.

import { z } from 'zod'
import { baseUrlExpected, isBaseUrl, withoutTrailingSlash } from './rules.ts'
import { checkedText, choice, key, secretText, section, text } from './schema-parts.ts'

const kinds = ['github', 'google', 'oidc'] as const

const provider = section({
  id: z
    .string('expected a name; put a number in quotes')
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'expected a name of small letters, digits and -')
    .meta({ description: 'Name of the provider, unique; a part of its callback address.' }),
  kind: key(
    choice(kinds),
    'How it is spoken to; left out: as its id says, where that is github or google.',
  ),
  name: key(text(), 'What its button says; left out: its usual name, or its id.'),
  issuer: key(
    checkedText(baseUrlExpected, isBaseUrl),
    'Of kind oidc: the issuer, to the letter as its ID tokens name it.',
  ),
  baseUrl: key(
    checkedText(baseUrlExpected, isBaseUrl).transform(withoutTrailingSlash),
    'Address of a GitHub Enterprise Server, or of what stands in for Google; left out: their own.',
  ),
  clientId: text().meta({ description: 'What the provider calls this gateway.' }),
  clientSecret: secretText().meta({ description: "This gateway's secret at the provider." }),
})
  .refine(({ id, kind }) => kinds.some((name) => name === (kind ?? id)), {
    path: ['kind'],
    message: `expected one of ${kinds.join(', ')}, for the id is none of them`,
  })
  .refine(({ id, kind, issuer }) => (kind ?? id) !== 'oidc' || issuer !== null, {
    path: ['issuer'],
    message: 'a provider of kind oidc needs one',
  })

export const identityProviders = z
  .array(provider, 'expected a list of providers')
  .refine((list) => new Set(list.map(({ id }) => id)).size === list.length, 'each needs its own id')
