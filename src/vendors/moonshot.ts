// Moonshot AI (Kimi): cached tokens at the top level of usage, and a stream's usage inside its last choice.

import type { Fault } from '../errors.ts'
import { amendments, developerAsSystem, noneAsDisabled, replayedReasoning } from './amendments.ts'
import { chatOnly, openaiCompatible } from './compatible.ts'
import { thinking } from './efforts.ts'
import { topLevelCached } from './usage.ts'
import type { Vendor } from './vendor.ts'

/** An exhausted account also gets 429; the error's `type` tells it apart. */
function refine(fault: Fault, _status: number, body: string): Fault {
  return body.includes('"exceeded_current_quota_error"') ? { ...fault, kind: 'quota' } : fault
}

/** Models with fixed sampling, which answer 400 to any other (Moonshot, "Kimi K2.5", parameters). */
const fixed = /^(kimi-k2\.[5-9]|kimi-k[3-9]|kimi-for-coding|k[3-9]\b)/
const refused = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty']
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** These think, and require their thoughts back. Kimi K2.5 and later take an empty text for none. */
export const kimiThoughts = replayedReasoning(
  ' ',
  /kimi-(k2\.[5-9]|k2-thinking|k[3-9]|for-coding)|^k[3-9]\b/i,
)

/** Keys of the mainland platform need https://api.moonshot.cn/v1. */
export const moonshot = openaiCompatible({
  id: 'moonshot',
  baseUrl: 'https://api.moonshot.ai/v1',
  environment: 'MOONSHOT_API_KEY',
  speaks: chatOnly,
  quirks: {
    // Moonshot, "Reasoning effort": K3 takes these; the others take any, and K2.7 cannot but think.
    parameters: thinking(
      { name: /^(kimi-)?k3\b/, efforts: ['low', 'high', 'max'], refused },
      { name: /^kimi-k2\.7/, efforts: [], refused },
      { name: fixed, efforts, refused },
    ),
    amend: amendments(developerAsSystem, kimiThoughts, noneAsDisabled(/^kimi-k2\.[56]/)),
    refine,
    usage: topLevelCached,
    usagePath: ['choices', '0', 'usage'],
  },
}) satisfies Vendor
