// Alibaba Cloud Model Studio (Qwen) by its compatible mode.

import type { Fault } from '../errors.ts'
import { amendments, developerAsSystem, maxTokensOnly } from './amendments.ts'
import { allDialects, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

/** An account in arrears is answered 400 with code `Arrearage`. */
function refine(fault: Fault, _status: number, body: string): Fault {
  return body.includes('"Arrearage"') ? { ...fault, kind: 'quota' } : fault
}

/** Keys of other regions belong to other hosts, such as https://dashscope-intl.aliyuncs.com/compatible-mode/v1. */
export const dashscope = openaiCompatible({
  id: 'dashscope',
  ownedBy: 'alibaba',
  baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
  environment: 'DASHSCOPE_API_KEY',
  speaks: allDialects,
  amend: amendments(maxTokensOnly, developerAsSystem),
  refine,
}) satisfies Vendor
