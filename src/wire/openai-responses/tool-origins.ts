// Maps tool names that a model calls back to the name or type under which a Responses client offered the tool.

import type { ChatRequest, JsonObject } from '../ir.ts'
import { isObject, parsedObject } from '../json/value.ts'
import { type ClientTool, clientToolOf } from './client-tools.ts'
import { nativeOf } from './hub-tools.ts'

interface ToolOrigin {
  /** Members of the call item: the namespace, and the name in it. */
  readonly names: JsonObject
  /** Set where the call is an item of the tool's own type. */
  readonly known?: ClientTool
}

export type ToolOrigins = ReadonlyMap<string, ToolOrigin>

export function originsOf({ tools = [] }: ChatRequest): ToolOrigins {
  const origins = new Map<string, ToolOrigin>()
  for (const tool of tools) {
    const native = nativeOf(tool)
    if (tool.type === 'other' || native === undefined) continue
    const { tool: worded, namespace, name } = native
    const known = isObject(worded) ? clientToolOf(worded) : null
    if (known !== null) origins.set(tool.name, { names: {}, known })
    else if (namespace !== undefined) origins.set(tool.name, { names: { name, namespace } })
  }
  return origins
}

/** Parses a call's arguments; null where they are not an object. */
export function inputIn(text: string): JsonObject | null {
  return parsedObject(text === '' ? '{}' : text)
}
