// Collects an audit's findings up to a limit, because a table that is wrong throughout must not fill the memory.

import type { AuditFinding } from './ledger.ts'

const mostOfAKind = 1_000

export interface Findings {
  add(kind: string, subject: string, message: string): void
  list(): readonly AuditFinding[]
}

/** Keeps the first 1,000 of each kind, and adds a count of the others. */
export function createFindings(): Findings {
  const kept: AuditFinding[] = []
  const counts = new Map<string, number>()
  return {
    add(kind, subject, message) {
      const count = (counts.get(kind) ?? 0) + 1
      counts.set(kind, count)
      if (count <= mostOfAKind) kept.push({ kind, subject, message })
    },
    list() {
      const more = [...counts].filter(([, count]) => count > mostOfAKind)
      return [
        ...kept,
        ...more.map(([kind, count]) => {
          return { kind, subject: '', message: `${count - mostOfAKind} more of this kind` }
        }),
      ]
    },
  }
}
