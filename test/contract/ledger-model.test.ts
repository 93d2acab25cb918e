// Compares both engines with the model: the same random commands must give the same answers and keep the same money.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Engine } from '../../src/store/engine.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { createStore } from '../../src/store/tables.ts'
import { LedgerBook, modelTables } from '../support/ledger-model.ts'
import { repetitions } from '../support/long.ts'
import { makeDirectory, makeSchema, testDatabaseUrl } from './databases.ts'
import { accounts, answer, type Command, commands, keptBy, keptByModel } from './ledger-model.ts'

describe('I1, I2, I5, I22: the ledger is its model', () => {
  test('on sqlite', async () => {
    await compare(repetitions(25, 150, 60), async (work) => {
      const directory = makeDirectory()
      const engine = await openSqlite(directory.path)
      await work(engine).finally(async () => {
        await engine.close()
        directory.remove()
      })
    })
  })

  const url = testDatabaseUrl
  if (url === null) return
  test('on postgres', async () => {
    await compare(repetitions(4, 20, 8), async (work) => {
      const schema = await makeSchema(url)
      const engine = await openPostgres(schema.url)
      await work(engine).finally(async () => {
        await engine.close()
        await schema.drop()
      })
    })
  })
})

type OnEmpty = (work: (engine: Engine) => Promise<void>) => Promise<void>

async function compare(numRuns: number, onEmpty: OnEmpty): Promise<void> {
  await fc.assert(
    fc.asyncProperty(commands, (list) => onEmpty((engine) => runBoth(engine, list))),
    { numRuns },
  )
}

async function runBoth(engine: Engine, list: readonly Command[]): Promise<void> {
  const store = createStore(engine)
  const book = new LedgerBook()
  const model = modelTables(book)
  for (const account of accounts) {
    await store.accounts.ensure(account, 1)
    book.ensure(account)
  }
  for (const command of list) {
    const epochs = new Map([...book.nodes].map(([node, { epoch }]) => [node, epoch]))
    const expected = await answer(command, model, epochs)
    const given = await answer(command, store, epochs)
    expect({ command: command.name, answer: given }).toEqual({
      command: command.name,
      answer: expected,
    })
    expect(await keptBy(engine, store)).toEqual(await keptByModel(book))
  }
}
