// Built-in tools of the Responses format that the client runs, described as functions for all other vendors.

import type { JsonObject } from '../ir.ts'
import { isObject, objectOf, stringOf } from '../json/value.ts'

/** One tool type, the types of its call and answer items, and the function that stands for it at other vendors. */
export interface ClientTool {
  readonly type: string
  readonly call: string
  readonly output: string
  readonly description: string
  readonly parameters: JsonObject
  /** Members of the call item, built from the function's arguments. */
  item(input: JsonObject): JsonObject
  /** The function's arguments, built from a call item. */
  input(item: JsonObject): JsonObject
}

const text = { type: 'string' } as const
const texts = { type: 'array', items: text } as const
const count = { type: 'integer' } as const

/** Source: OpenAI, "Local shell". */
const localShell: ClientTool = {
  type: 'local_shell',
  call: 'local_shell_call',
  output: 'local_shell_call_output',
  description: 'Runs one command on the local machine and gives its output.',
  parameters: {
    type: 'object',
    properties: {
      command: { ...texts, description: 'The program and its arguments.' },
      working_directory: text,
      timeout_ms: count,
      env: { type: 'object', additionalProperties: text },
    },
    required: ['command'],
  },
  item: (input) => ({ action: { command: [], env: {}, ...input, type: 'exec' } }),
  input(item) {
    const { type: _, ...action } = objectOf(item['action'])
    return action
  },
}

/** Source: OpenAI, "Shell". */
const shell: ClientTool = {
  type: 'shell',
  call: 'shell_call',
  output: 'shell_call_output',
  description: 'Runs commands in a shell and gives the output of each.',
  parameters: {
    type: 'object',
    properties: {
      commands: { ...texts, description: 'Shell commands, each run by itself.' },
      timeout_ms: count,
      max_output_length: count,
    },
    required: ['commands'],
  },
  item: (input) => ({ action: { commands: [], ...input } }),
  input: (item) => objectOf(item['action']),
}

/** Source: OpenAI, "Apply patch". */
const applyPatch: ClientTool = {
  type: 'apply_patch',
  call: 'apply_patch_call',
  output: 'apply_patch_call_output',
  description: 'Creates, changes or deletes one file.',
  parameters: {
    type: 'object',
    properties: {
      type: { ...text, enum: ['create_file', 'update_file', 'delete_file'] },
      path: text,
      diff: {
        ...text,
        description:
          'For create_file and update_file: the hunks of a unified diff, each line begun by "+", "-" or a space.',
      },
    },
    required: ['type', 'path'],
  },
  item: (input) => ({ operation: input }),
  input: (item) => objectOf(item['operation']),
}

/** Source: OpenAI, "Tool search"; the client runs it only where `execution` is `client`. */
const toolSearch: ClientTool = {
  type: 'tool_search',
  call: 'tool_search_call',
  output: 'tool_search_output',
  description:
    'Searches tools that are not offered yet; those it finds can be called from then on.',
  parameters: { type: 'object', properties: { query: text }, required: ['query'] },
  item: (input) => ({ execution: 'client', arguments: input }),
  input: (item) => objectOf(item['arguments']),
}

const clientTools = [localShell, shell, applyPatch, toolSearch] as const

/** The tool that `value` offers if the client runs it; null for every other. */
export function clientToolOf({ type, execution, environment }: JsonObject): ClientTool | null {
  if (type === 'tool_search' && execution !== 'client') return null
  // A shell in a container is run by the vendor.
  if (isObject(environment) && stringOf(environment['type']).startsWith('container')) return null
  return clientTools.find((tool) => tool.type === type) ?? null
}

/** The tool to which the call or answer item belongs; null for every other item. */
export function clientToolOfItem({ type, execution }: JsonObject): ClientTool | null {
  if (execution === 'server') return null
  return clientTools.find((tool) => tool.call === type || tool.output === type) ?? null
}

/** Every body with tools other than functions and the vendor's own contains one of these texts. */
export const toolMarks: readonly string[] = [
  '"namespace"',
  '"additional_tools"',
  '"custom"',
  '"custom_tool_call"',
  ...clientTools.flatMap(({ type, call }) => [`"${type}"`, `"${call}"`]),
]
