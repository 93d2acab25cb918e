// Decides when a sandbox chat model calls tools, and with which arguments.

import type { JsonObject, JsonValue } from '../../wire/ir.ts'
import { isObject, objectOf } from '../../wire/json/value.ts'
import { identifier } from '../hash.ts'
import { example } from './schema.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** The arguments' JSON in stream pieces; the first is empty, because it is sent with the name. */
  readonly pieces: readonly string[]
}

const pieceLength = 8

interface Tool {
  readonly name: string
  readonly parameters: JsonValue | undefined
}

function offered(tools: JsonValue | undefined): Tool[] {
  if (!Array.isArray(tools)) return []
  const found: Tool[] = []
  for (const tool of tools) {
    if (!isObject(tool) || !isObject(tool.function)) continue
    const { name, parameters } = tool.function
    if (typeof name === 'string') found.push({ name, parameters })
  }
  return found
}

function forcedName(choice: JsonValue | undefined): string | null {
  if (!isObject(choice) || !isObject(choice.function)) return null
  return typeof choice.function.name === 'string' ? choice.function.name : null
}

const directive = /^[ \t]*(?:please )?(?:use|call|ask|run) (.+)$/gim
const border = /[^\p{L}\p{N}_.:-]+/u

/** The first word, and the words of lines that begin with use, call, ask or run, without trailing punctuation. */
function directed(said: string): ReadonlySet<string> {
  const [first = ''] = said.split(border, 1)
  const lines = [first, ...[...said.matchAll(directive)].map(([, rest = '']) => rest)]
  return new Set(lines.flatMap((line) => line.split(border)).map(withoutMarks))
}

/** A pattern would try every rest of a run of dots. */
function withoutMarks(word: string): string {
  let end = word.length
  while (word[end - 1] === '.' || word[end - 1] === ':') end--
  return word.slice(0, end)
}

function chosen(body: JsonObject, said: string): Tool[] {
  const tools = offered(body.tools)
  const choice = body.tool_choice
  if (choice === 'none') return []
  const forced = forcedName(choice)
  if (forced !== null) return tools.filter((tool) => tool.name === forced).slice(0, 1)
  const words = directed(said)
  const named = tools.filter((tool) => words.has(tool.name))
  if (named.length === 0) return choice === 'required' ? tools.slice(0, 1) : []
  return body.parallel_tool_calls === false ? named.slice(0, 1) : named
}

function inPieces(text: string): string[] {
  const pieces = ['']
  for (let at = 0; at < text.length; at += pieceLength)
    pieces.push(text.slice(at, at + pieceLength))
  return pieces
}

/**
 * A tool is called if `tool_choice` forces it, if `said` begins with its name, or if a line of `said` begins with
 * `use`, `call`, `ask` or `run` and contains its name. A name elsewhere does not count: agents describe their tools in
 * what they send as the user's message.
 */
export function toolCalls(body: JsonObject, said: string, seed: string): ToolCall[] {
  return chosen(body, said).map(({ name, parameters }, index) => {
    const value = isObject(parameters) ? example(parameters) : {}
    return {
      id: `call_${identifier(`${seed}\n${index}\n${name}`)}`,
      name,
      pieces: inPieces(JSON.stringify(objectOf(value))),
    }
  })
}
