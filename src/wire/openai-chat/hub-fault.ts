// Errors inside a reply that began well, in every place vendors put them.

import type { Fault } from '../../errors.ts'
import type { JsonObject } from '../ir.ts'
import { errorIn, faultInside } from '../openai/fault.ts'
import { isObject } from '../openai/usage.ts'

/** The error that a frame or a body reports in place of, or beside, its choices; null where it reports none. */
export function faultIn(frame: JsonObject): Fault | null {
  const error = errorIn(frame)
  if (error !== null) return faultInside(error)
  // vLLM: the frame itself is the error.
  if (frame.object === 'error') return faultInside(frame)
  const base = frame.base_resp
  // MiniMax, "Error codes": 0 is success.
  if (!isObject(base) || !base.status_code) return null
  return faultInside({ code: base.status_code, message: base.status_msg ?? '' })
}
