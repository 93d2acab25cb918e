/** Compares the gateway's usage rows with the requests that were sent. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOAD_CORE, spawnPinned } from './processes.ts'

interface Row {
  model: string
  status: number
}

const ROW_LIMIT = 1_000_000
const SETTLE_LIMIT_MS = 20_000

/** Requests sent to each model: those answered, and those cut off when a load phase ended. */
export class Sent {
  private readonly byModel = new Map<string, { answered: number; cutOff: number }>()

  /** `cutOff`: the largest number of requests that may have been running when the load stopped. */
  add(model: string, answered: number, cutOff = 0): void {
    const sum = this.byModel.get(model) ?? { answered: 0, cutOff: 0 }
    sum.answered += answered
    sum.cutOff += cutOff
    this.byModel.set(model, sum)
  }

  total(): number {
    return [...this.byModel.values()].reduce((sum, each) => sum + each.answered, 0)
  }

  /** One sentence for each model whose number of rows with status 200 differs from its requests. */
  differences(rows: Map<string, number>): string[] {
    const wrong: string[] = []
    for (const [model, { answered, cutOff }] of this.byModel) {
      const seen = rows.get(model) ?? 0
      if (seen < answered || seen > answered + cutOff) {
        wrong.push(
          `${model}: ${seen} usage rows for ${answered} requests (${cutOff} may be cut off)`,
        )
      }
    }
    return wrong
  }
}

async function readRows(checkout: string, folder: string): Promise<Map<string, number>> {
  const out = join(folder, 'usage.json')
  const log = join(folder, 'usage.log')
  const data = join(folder, 'data')
  const main = join(checkout, 'src/cli/main.ts')
  const script = existsSync(main) ? main : join(checkout, 'bin/tollgate')
  const args = [script, 'usage', '--json', '--limit', String(ROW_LIMIT), '--data', data]
  const command = spawnPinned(process.execPath, args, { core: LOAD_CORE, cwd: folder, log, out })
  const exit = await command.exited
  const text = readFileSync(out, 'utf8')
  if (exit !== 0)
    throw new Error(`tollgate usage ended with ${exit}: ${readFileSync(log, 'utf8').slice(-500)}`)
  const rows: Row[] = JSON.parse(text)
  const byModel = new Map<string, number>()
  for (const { model, status } of rows) {
    if (status === 200) byModel.set(model, (byModel.get(model) ?? 0) + 1)
  }
  return byModel
}

/** Reads the rows until they match what was sent; returns the differences left after 20 s. */
export async function usageDifferences(
  checkout: string,
  folder: string,
  sent: Sent,
): Promise<string[]> {
  if (sent.total() > ROW_LIMIT * 0.95) {
    return [`${sent.total()} requests are more than one usage answer holds: use shorter phases`]
  }
  const giveUpAt = performance.now() + SETTLE_LIMIT_MS
  for (;;) {
    const wrong = sent.differences(await readRows(checkout, folder))
    if (wrong.length === 0 || performance.now() > giveUpAt) return wrong
    await sleep(500)
  }
}
