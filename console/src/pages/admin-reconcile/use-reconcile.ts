// Reconciles a period: a long one is answered in parts, whose days are added up here as the API says.

import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { change, type Shape } from '../../api/client.ts'

type Part = Shape<'Reconciled'>
type PartDay = Part['items'][number]
export type Finding = Part['differences'][number]
export type Day = PartDay & { readonly currency: string }

interface Asked {
  /** RFC 3339. */
  readonly since: string
  readonly until: string
  readonly account?: string
}

export interface Outcome {
  /** Nothing differs, neither in a request nor in a day's sums; null: not all parts have arrived. */
  readonly isEqual: boolean | null
  readonly days: readonly Day[]
  /** The first hundred of each part. */
  readonly findings: readonly Finding[]
  /** How many differing requests are not among them. */
  readonly unlisted: number
}

/** Calculates the period when `run.mutate` is called; each part is in the outcome as it arrives. */
export function useReconcile(asked: Asked) {
  const [parts, setParts] = useState<readonly Part[]>([])
  const isLeft = useRef(false)
  useEffect(() => {
    isLeft.current = false
    return () => {
      isLeft.current = true
    }
  }, [])
  const run = useMutation({
    mutationFn: async () => {
      setParts([])
      let cursor: string | null = null
      do {
        const body: Asked & { cursor?: string } = {
          ...asked,
          ...(cursor !== null && { cursor }),
        }
        const part: Part = await change('post', '/api/reconcile', { body })
        setParts((before) => [...before, part])
        cursor = part.next
      } while (cursor !== null && !isLeft.current)
    },
  })
  return { outcome: outcomeOf(parts), run }
}

function outcomeOf(parts: readonly Part[]): Outcome {
  const days = new Map<string, Day>()
  for (const { items, currency } of parts) {
    for (const item of items) {
      const name = `${item.day} ${item.account}`
      const before = days.get(name)
      days.set(name, { ...(before === undefined ? item : sumOf(before, item)), currency })
    }
  }
  return {
    isEqual: parts.at(-1)?.next === null ? parts.every(({ ok }) => ok) : null,
    days: [...days.values()],
    findings: parts.flatMap(({ differences }) => differences),
    unlisted: parts.reduce((sum, { moreDifferences }) => sum + moreDifferences, 0),
  }
}

/** Of a day that was split over two parts. */
function sumOf(one: PartDay, other: PartDay): PartDay {
  const states = [one.state, other.state]
  return {
    ...one,
    state: (['different', 'pruned'] as const).find((state) => states.includes(state)) ?? 'equal',
    rows: counted(one.rows, other.rows),
    entries: one.entries && other.entries && amounts(one.entries, other.entries),
    totals: counted(one.totals, other.totals),
  }
}

type Sums = NonNullable<PartDay['entries']>

function amounts(one: Sums, other: Sums): Sums {
  const add = (name: keyof Sums) => String(BigInt(one[name]) + BigInt(other[name]))
  return { chargeNano: add('chargeNano'), writeoffNano: add('writeoffNano') }
}

function counted(one: PartDay['rows'], other: PartDay['rows']): PartDay['rows'] {
  // What is no longer kept of one part is not known of the day.
  if (one === null || other === null) return null
  return { ...amounts(one, other), requests: one.requests + other.requests }
}
