// Whether a key belongs to an input method, such as the Enter that confirms pinyin.

import type { KeyboardEvent } from 'react'

/** Safari ends the composition before this key is sent, and marks it by the code 229 alone (WebKit bug 165004). */
export function isComposing({ nativeEvent }: KeyboardEvent): boolean {
  return nativeEvent.isComposing || nativeEvent.keyCode === 229
}
