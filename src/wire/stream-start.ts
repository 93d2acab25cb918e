// Finds out whether a stream begins with the event that official clients of its format need first.

import { spells } from './json/scan.ts'
import { parsedObject, stringOf } from './json/value.ts'
import { FrameSplitter, frameData } from './sse.ts'

/** A stream whose first event is not known within this many bytes is relayed as it is. */
const maxStartBytes = 16_384

/**
 * Tells by a stream's beginning whether it lacks the event `first`: `isLater` names the events that come only after it.
 * The result is null where more bytes are needed.
 */
export function startCheck(
  first: string,
  isLater: (type: string) => boolean,
): (beginning: Uint8Array) => boolean | null {
  const usual = `event: ${first}\n`
  return (beginning) => {
    if (spells(beginning, 0, usual.length, usual)) return false
    const splitter = new FrameSplitter()
    const count = splitter.push(beginning)
    const { bytes, starts, ends } = splitter
    for (let at = 0; at < count; at++) {
      const { data, event } = frameData(bytes, starts[at] ?? 0, ends[at] ?? 0)
      const type = event ?? stringOf(parsedObject(data ?? '')?.['type'])
      if (isLater(type)) return true
      // Comments and pings may come before any event; whatever else there is, the relay judges it.
      if (data !== null && type !== 'ping') return false
    }
    return beginning.length > maxStartBytes ? false : null
  }
}
