// The number of a choice in a reply, where vendors may send any value.

import type { JsonValue } from '../ir.ts'
import { wholeNumber } from '../json/value.ts'

/** OpenAI's `n` is at most 128, and official clients fail at a larger index. */
export const largestIndex = 127

/** The vendor's index; the choice's place in its list where that is not a possible one. */
export function choiceIndex(value: JsonValue | undefined, place: number): number {
  const index = wholeNumber(value, 0)
  return index === null || index > largestIndex ? place : index
}
