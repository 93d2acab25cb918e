// What a store has only once it is used: an engine, opened again where it could not be, and tables loaded with their code.

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

type Methods<Table> = { readonly [Name in keyof Table]: (...args: never[]) => Promise<unknown> }

/** A table whose code is loaded by its first call: a server that only relays, and the thread that settles, need few. */
export function lazyTable<Table extends Methods<Table>>(load: () => Promise<Table>): Table {
  let loaded: Table | null = null
  const method = (name: keyof Table) => {
    return async (...args: never[]) => {
      loaded ??= await load()
      return loaded[name](...args)
    }
  }
  const methods: Record<PropertyKey, unknown> = {}
  const found = new Proxy(methods, {
    get(_, name) {
      // Were it to have a `then`, it would pass for a promise.
      if (name === 'then') return undefined
      methods[name] ??= method(name as keyof Table)
      return methods[name]
    },
  })
  return found as Table
}
