// What of a request decides the form of its reply.

import type { ChatRequest } from '../ir.ts'
import { ownFields } from './hub-fields.ts'

/** The client asked with the deprecated `functions` alone: it looks for calls in `function_call`. */
export function asksByFunctions(request: ChatRequest | undefined): boolean {
  const tools = request?.tools ?? []
  const isOlder = (tool: (typeof tools)[number]): boolean =>
    tool.type === 'function' && ownFields(tool.extra)['deprecated'] === true
  return tools.length > 0 && tools.every(isOlder)
}
