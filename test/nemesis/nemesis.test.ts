// Tests three nodes under load while their dependencies fail one after another: answered requests are charged once, and
// others serve.

import { describe, test } from 'bun:test'
import { postgresCases } from '../support/deployment.ts'
import { repetitions } from '../support/long.ts'
import { seeded } from '../support/seeded.ts'
import { kinds } from './faults.ts'
import { breakAgainAndAgain, expectBooks } from './run.ts'
import { openStage } from './stage.ts'

/** Printed with the test: `NEMESIS_SEED` repeats the same faults on the same nodes, at other moments of the load. */
const seed = Number(Bun.env['NEMESIS_SEED'] ?? Date.now() % 0x7fff_ffff)
const each = Object.entries(kinds)
/** Each once, and in the long run then at random. */
const more = repetitions(0, 40, 15)

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
