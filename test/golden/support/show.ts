// Writes JSON for the golden files: what fits on a line is on one line, so that files are short and changes easy to
// read.

import type { JsonValue } from '../../../src/wire/ir.ts'

const widest = 100

function plain(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(plain).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = membersOf(value).map(([name, each]) => `${JSON.stringify(name)}: ${plain(each)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

function membersOf(value: object): [string, JsonValue][] {
  return Object.entries(value).filter(([, each]) => each !== undefined)
}

/** `used` characters of the value's line are taken: by the indent, a name before it, a comma after it. */
function shown(value: JsonValue, indent: string, used: number): string {
  const line = plain(value)
  if (used + line.length <= widest || typeof value !== 'object' || value === null) return line
  const inner = `${indent}  `
  const entries: [label: string, value: JsonValue][] = Array.isArray(value)
    ? value.map((each) => ['', each])
    : membersOf(value).map(([name, each]) => [`${JSON.stringify(name)}: `, each])
  const rows = entries.map(([label, each], at) => {
    const comma = at < entries.length - 1 ? 1 : 0
    return inner + label + shown(each, inner, inner.length + label.length + comma)
  })
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return `${open}\n${rows.join(',\n')}\n${indent}${close}`
}

/** Members that are undefined are left out. */
export function show(value: unknown): string {
  return `${shown(value as JsonValue, '', 0)}\n`
}
