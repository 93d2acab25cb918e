// Three nodes under load while one thing after another is taken from them: what was answered is charged once, and others serve.

import { describe, test } from 'bun:test'
import { postgresCases } from '../support/deployment.ts'
import { repetitions } from '../support/long.ts'
import { seeded } from '../support/seeded.ts'
import { kinds } from './faults.ts'
import { breakAgainAndAgain, expectBooks } from './run.ts'
import { openStage } from './stage.ts'

/** Printed with the test: `NEMESIS_SEED` asks for the same faults of the same nodes again, at other moments of the load. */
const seed = Number(Bun.env['NEMESIS_SEED'] ?? Date.now() % 0x7fff_ffff)
const each = Object.entries(kinds)
/** Each once, and at length then by chance. */
const more = repetitions(0, 40)

describe.each(postgresCases)('three nodes on $engine', ({ databaseUrl }) => {
  test(`${each.length + more} faults, seed ${seed}: nothing is lost, doubled or overdrawn, and others serve`, async () => {
    const stage = await openStage(databaseUrl, seeded(seed))
    try {
      const random = Array.from({ length: more }, () => stage.one(each))
      await expectBooks(stage, await breakAgainAndAgain(stage, [...each, ...random]))
    } finally {
      await stage.close()
    }
  }, 280_000)
})
