// An engine that is opened at its first use, and again where it could not be.

import type { Engine } from './engine.ts'

export function lazily(kind: Engine['kind'], open: () => Promise<Engine>): Engine {
  let opening: Promise<Engine> | null = null
  const opened = async (): Promise<Engine> => {
    opening ??= open()
    try {
      return await opening
    } catch (error) {
      opening = null
      throw error
    }
  }
  return {
    kind,
    query: async (sql, values) => (await opened()).query(sql, values),
    run: async (sql, values) => (await opened()).run(sql, values),
    bulk: async (statement, rows) => (await opened()).bulk(statement, rows),
    transaction: async (work) => (await opened()).transaction(work),
    snapshot: async (work) => (await opened()).snapshot(work),
    async close() {
      await (await opening?.catch(() => null))?.close()
    },
  }
}
