// Every vendor by the name a channel's `vendor` gives it: explicit, so that a search finds it.

import { openai } from './openai.ts'
import { sandbox } from './sandbox/vendor.ts'
import type { Vendor } from './vendor.ts'

export const vendors: Readonly<Record<string, Vendor>> = {
  openai,
  sandbox,
}
