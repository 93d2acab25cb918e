// Classifies errors of Anthropic's API as faults.

import type { Fault } from '../../errors.ts'
import type { JsonValue } from '../ir.ts'
import { faultInside, readFault as readAnyFault } from '../openai/fault.ts'

/** "Errors": 529 means that the whole service is overloaded, not that this account exceeds a limit. */
const overloadedStatus = 529

/** Inside a string, where a client's words may be repeated, the quotes would be escaped. */
const overloaded = /"type"\s*:\s*"overloaded_error"/

function sharpened(fault: Fault, text: string): Fault {
  if (fault.status === overloadedStatus || overloaded.test(text)) {
    return { ...fault, kind: 'overloaded' }
  }
  if (
    fault.kind === 'rejected' &&
    /prompt is too long|exceed.{0,40}context (window|limit)/i.test(text)
  ) {
    return { ...fault, code: 'context_length_exceeded' }
  }
  return fault
}

/** Reads an error reply; `header` looks a reply header up by lower-case name. */
export function readFault(
  status: number,
  header: (name: string) => string | null,
  body: string,
): Fault {
  return sharpened(readAnyFault(status, header, body), body)
}

/** Reads the value of `error` in a stream's event or in a reply with a success status. */
export function faultIn(error: JsonValue): Fault {
  return sharpened(faultInside(error), JSON.stringify(error))
}
