// Anthropic: its own format, with the key and the API version in headers of its own.

import { openaiPath } from './compatible.ts'
import { makersParameters } from './parameters.ts'
import type { Vendor } from './vendor.ts'

/** The API version that the gateway's own requests are written for ("Versioning"); a client's header replaces it. */
const version = '2023-06-01'

/**
 * What the gateway writes where another vendor's reasoning has no signature, and its citation no index. Anthropic
 * answers 400 to both ("Invalid `signature` in `thinking` block"); other servers of its format made them themselves.
 */
export const unsigned: readonly string[] = ['signature', 'encrypted_index']
const none: readonly string[] = []

export const anthropic: Vendor = {
  id: 'anthropic',
  ownedBy: 'anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  version: 'v1',
  environment: 'ANTHROPIC_API_KEY',
  speaks: ['anthropic-messages'],
  quirks: {
    usageOnStream: 'always',
    parameters: makersParameters,
    everyTool: true,
    refusesEmpty: (model) => (/claude/i.test(model) ? unsigned : none),
  },
  address: ({ dialect, counts }, { baseUrl }) =>
    `${baseUrl}${openaiPath(dialect)}${counts === true ? '/count_tokens' : ''}`,
  signature: {
    headers: ({ key }) => [
      ...(key === null ? [] : [['x-api-key', key] as const]),
      ['anthropic-version', version],
    ],
  },
  countsTokens: true,
}
