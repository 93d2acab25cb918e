// Errors inside a reply that began well: found in a frame or a whole body, and judged.

import type { Fault, FaultKind } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../openai/usage.ts'

/** Words of an error's code or type, or HTTP status as a code, to what it means; the first that fits counts. */
const kinds: readonly (readonly [RegExp, FaultKind])[] = [
  [/quota|balance|billing|credit|^402$|^1008$/, 'quota'],
  [/rate.?limit|too.many|^429$/, 'rate_limited'],
  [/api.?key|authenti|permission|^40[13]$/, 'credentials'],
  [/model.not|^404$/, 'unknown_model'],
  [/invalid|context.length|content.?(filter|policy)|^4(00|13|22)$/, 'rejected'],
]

function kindOf(words: readonly string[]): FaultKind {
  for (const word of words) {
    for (const [pattern, kind] of kinds) if (pattern.test(word)) return kind
  }
  return 'vendor_error'
}

function textIn(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function faultOf(error: JsonValue): Fault {
  if (!isObject(error)) return { kind: 'vendor_error', message: textIn(error) || 'an error' }
  const code = textIn(error['code'])
  const words = [code, textIn(error['type'])].map((word) => word.toLowerCase())
  const message = textIn(error['message']) || JSON.stringify(error)
  const kind = kindOf(words)
  return {
    kind,
    message,
    ...(typeof error['param'] === 'string' && { param: error['param'] }),
    ...(code !== '' && { code }),
  }
}

/** MiniMax: status 0 is success ("Error codes"). */
function baseFault(frame: JsonObject): Fault | null {
  const base = frame['base_resp']
  if (!isObject(base) || !base['status_code']) return null
  return faultOf({ code: base['status_code'], message: base['status_msg'] ?? '' })
}

/**
 * The error a frame or body reports in place of, or beside, its choices: `error` itself, inside `x_groq`
 * (Groq) or a choice (OpenRouter), a body that is the error (vLLM, Mistral), `base_resp` (MiniMax).
 */
export function faultIn(frame: JsonObject): Fault | null {
  if (frame['error']) return faultOf(frame['error'])
  const groq = frame['x_groq']
  if (isObject(groq) && groq['error']) return faultOf(groq['error'])
  if (frame['object'] === 'error') return faultOf(frame)
  if (Array.isArray(frame['choices'])) {
    for (const choice of frame['choices']) {
      if (isObject(choice) && choice['error']) return faultOf(choice['error'])
    }
  }
  return baseFault(frame)
}
