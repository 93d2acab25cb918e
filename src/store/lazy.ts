// Opens an engine at its first use, again after a failure, and loads the code of a table at its first call.

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

/** A table whose code is loaded by its first call: the threads that relay and settle need only a few tables. */
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
      // A `then` member would make it look like a promise.
      if (name === 'then') return undefined
      methods[name] ??= method(name as keyof Table)
      return methods[name]
    },
  })
  return found as Table
}
