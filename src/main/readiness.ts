// Whether this process can serve requests at present, judged by the components they need.

import type { State } from './state.ts'

type Needed = Pick<State, 'load' | 'ledger' | 'leftSettled' | 'health'> & {
  readonly current: Pick<State['current'], 'channelIds'>
}

/** For each component, why it cannot serve; null: it can. Names no channel, since anybody may read it. */
export function readiness(state: Needed, nowMs: number): Readonly<Record<string, string | null>> {
  const { load, ledger, leftSettled } = state
  const unsettled = leftSettled.done ? null : 'records of former workers are being settled'
  return {
    server: load.leaving ? 'the server is stopping' : null,
    ledger: ledger.closed ?? unsettled,
    channels: channelsReason(state, nowMs),
  }
}

/** The channels' states are those of the metric `tollgate_channel_state`. */
function channelsReason({ current, health }: Needed, nowMs: number): string | null {
  let [failing, refused] = [0, 0]
  for (const id of current.channelIds) {
    const state = health.state(id, nowMs)
    if (state < 2) return null
    if (state === 2) failing += 1
    else refused += 1
  }
  if (failing + refused === 0) return 'no channel takes requests'
  const reported = [
    ...(failing > 0 ? [`${failing} failing or cooling down`] : []),
    ...(refused > 0 ? [`${refused} whose vendor refuses its key`] : []),
  ]
  return `no channel can be used: ${reported.join(', ')}`
}
