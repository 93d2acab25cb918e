// Assembles a call's arguments from the pieces that Vertex streams: values by JSON path, strings in several pieces.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectsIn, stringOf } from '../json/value.ts'
import { numberOf } from './fields.ts'

type Step = string | number

/** The steps of a path like `$.items[0]['a b']` (RFC 9535, singular queries); null where it is not one. */
export function stepsOf(path: string): Step[] | null {
  if (!path.startsWith('$')) return null
  const steps: Step[] = []
  const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y
  step.lastIndex = 1
  while (step.lastIndex < path.length) {
    const found = step.exec(path)
    if (found === null) return null
    const [, name, index, single, double] = found
    const quoted = single ?? double
    if (index !== undefined) steps.push(Number(index))
    else steps.push(name ?? (quoted ?? '').replace(/\\(.)/g, '$1'))
  }
  return steps.includes('__proto__') ? null : steps
}

function child(parent: JsonValue, step: Step): JsonValue | undefined {
  if (Array.isArray(parent)) return typeof step === 'number' ? parent[step] : undefined
  return isObject(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined
}

function put(parent: JsonValue, step: Step, value: JsonValue): void {
  if (Array.isArray(parent)) {
    // Elements come in order; a larger index must not leave a gap.
    if (typeof step === 'number') parent[Math.min(step, parent.length)] = value
  } else if (isObject(parent)) parent[step] = value
}

export class PartialArguments {
  readonly value: JsonObject = {}
  /** Paths of strings that continue. */
  private readonly open = new Set<string>()

  /** Applies the next `partialArgs` (Vertex API reference, `PartialArg`). */
  take(list: JsonValue | undefined): void {
    for (const piece of objectsIn(list)) this.add(piece)
  }

  private add(piece: JsonObject): void {
    const written = stringOf(piece['jsonPath'])
    // `$.list[]` without a value ends a list, which may be empty.
    const endsList = written.endsWith('[]')
    const path = endsList ? written.slice(0, -2) : written
    const steps = stepsOf(path)
    const last = steps?.at(-1)
    if (steps === null || last === undefined) return
    const parent = this.containerOf(steps)
    const before = child(parent, last)
    const text = piece['stringValue']
    if (typeof text === 'string') {
      const more = typeof before === 'string' && this.open.has(path)
      put(parent, last, more ? before + text : text)
    } else if (before === undefined) {
      const value = valueOf(piece) ?? (endsList ? [] : undefined)
      if (value !== undefined) put(parent, last, value)
      else if ('nullValue' in piece) put(parent, last, null)
      else if (piece['willContinue'] !== true) put(parent, last, {})
    }
    if (piece['willContinue'] === true) this.open.add(path)
    else this.open.delete(path)
  }

  /** The object or list that holds the last step; created if it does not exist yet. */
  private containerOf(steps: readonly Step[]): JsonValue {
    let at: JsonValue = this.value
    for (const [index, step] of steps.slice(0, -1).entries()) {
      let next: JsonValue | undefined = child(at, step)
      if (!isObject(next) && !Array.isArray(next)) {
        next = typeof steps[index + 1] === 'number' ? [] : {}
        put(at, step, next)
      }
      at = next
    }
    return at
  }
}

function valueOf(piece: JsonObject): JsonValue | undefined {
  const number = numberOf(piece['numberValue'])
  if (number !== null) return number
  return typeof piece['boolValue'] === 'boolean' ? piece['boolValue'] : undefined
}
