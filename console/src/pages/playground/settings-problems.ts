// Errors in parameters and tools as they are typed.

import type { Settings } from './chat.ts'
import { breakOf } from './json-place.ts'

/** The position where a JSON text is invalid, from 1; or the index of an invalid tool, from 0. */
export type ToolsProblem =
  | { readonly kind: 'syntax'; readonly line: number; readonly column: number }
  | { readonly kind: 'not-a-list' }
  | { readonly kind: 'no-tool'; readonly at: number }

export interface SettingsProblems {
  readonly temperature: boolean
  readonly topP: boolean
  readonly maxTokens: boolean
  readonly tools: ToolsProblem | null
}

export function problemsOf(settings: Settings): SettingsProblems {
  return {
    temperature: !isWithin(settings.temperature, 2),
    topP: !isWithin(settings.topP, 1),
    maxTokens: !/^\s*([1-9]\d{0,8})?\s*$/.test(settings.maxTokens),
    tools: toolsProblem(settings.tools),
  }
}

export function hasProblem(problems: SettingsProblems): boolean {
  return problems.temperature || problems.topP || problems.maxTokens || problems.tools !== null
}

function isWithin(text: string, most: number): boolean {
  if (text.trim() === '') return true
  const value = Number(text)
  return value >= 0 && value <= most
}

function toolsProblem(text: string): ToolsProblem | null {
  if (text.trim() === '') return null
  const broken = breakOf(text)
  if (broken !== null) return { kind: 'syntax', ...placeOf(text, broken) }
  const tools: unknown = JSON.parse(text)
  if (!Array.isArray(tools)) return { kind: 'not-a-list' }
  const at = tools.findIndex((tool) => !isTool(tool))
  return at < 0 ? null : { kind: 'no-tool', at }
}

function isTool(tool: unknown): boolean {
  if (typeof tool !== 'object' || tool === null) return false
  const { type, function: given } = tool as { type?: unknown; function?: { name?: unknown } }
  return typeof type === 'string' && (type !== 'function' || typeof given?.name === 'string')
}

function placeOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, at).split('\n')
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}
