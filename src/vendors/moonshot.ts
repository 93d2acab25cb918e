// Moonshot AI (Kimi): cached tokens at the top level of usage, and a stream's usage inside its last choice.

import type { Fault } from '../errors.ts'
import { amendments, developerAsSystem } from './amendments.ts'
import { chatOnly, openaiCompatible } from './compatible.ts'
import { refuses } from './parameters.ts'
import { topLevelCached } from './usage.ts'
import type { Vendor } from './vendor.ts'

/** An exhausted account also gets 429; the error's `type` tells it apart. */
function refine(fault: Fault, _status: number, body: string): Fault {
  return body.includes('"exceeded_current_quota_error"') ? { ...fault, kind: 'quota' } : fault
}

/** Models with fixed sampling, which answer 400 to any other (Moonshot, "Kimi K2.5", parameters). */
const fixed = /^(kimi-k2\.[5-9]|kimi-k[3-9]|kimi-for-coding|k[3-9]\b)/
const refused = refuses('temperature', 'top_p', 'presence_penalty', 'frequency_penalty')

/** Keys of the mainland platform need https://api.moonshot.cn/v1. */
export const moonshot = openaiCompatible({
  id: 'moonshot',
  baseUrl: 'https://api.moonshot.ai/v1',
  environment: 'MOONSHOT_API_KEY',
  speaks: chatOnly,
  quirks: {
    parameters: ({ model }) => (fixed.test(model) ? refused : null),
    amend: amendments(developerAsSystem),
    refine,
    usage: topLevelCached,
    usagePath: ['choices', '0', 'usage'],
  },
}) satisfies Vendor
