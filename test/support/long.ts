// What `npm test` does briefly and `npm run test:long` does at length: it runs the files that import this one. Those with
// `isLong` in them run one after another with nothing beside them, so that they may also measure time and memory.

export const isLong = Bun.env['TEST_LONG'] === '1'

/** Of a count or a choice in `npm test` and the one at length. */
export function repetitions<Value>(brief: Value, long: Value): Value {
  return isLong ? long : brief
}

/** Of cases that take their time: the first `count` in `npm test`, the others at length. */
export function briefly<Case>(count: number, all: readonly Case[]): readonly Case[] {
  return isLong ? all.slice(count) : all.slice(0, count)
}

/** Lets time go by where time itself is measured, which `npm test` does not do. */
export function lasts(ms: number): Promise<void> {
  if (!isLong) throw new Error('time is measured by npm run test:long alone')
  return Bun.sleep(ms)
}
