// How much a test does: briefly in `npm test`, at length in `npm run test:long` and `test:all`, which run the files
// that import this one. Those that contain `isLong` run one after another with nothing beside them, so that they may also
// measure time and memory.

const length = Bun.env['TEST_LONG']

export const isLong = length === '1' || length === 'all'

/** A count or a choice in `npm test`, the one at length, and that of `npm run test:all` if that would take too long. */
export function repetitions<Value>(brief: Value, long: Value, all = long): Value {
  if (length === 'all') return all
  return isLong ? long : brief
}

/** Of slow cases, the first `count` run in `npm test`, the others at length; all of them in `npm run test:all`. */
export function briefly<Case>(count: number, all: readonly Case[]): readonly Case[] {
  if (length === 'all') return all
  return isLong ? all.slice(count) : all.slice(0, count)
}

/** Lets time pass if time itself is measured, which `npm test` does not do. */
export function lasts(ms: number): Promise<void> {
  if (!isLong) throw new Error('time is measured by npm run test:long alone')
  return Bun.sleep(ms)
}
