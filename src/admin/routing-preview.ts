// Shows which channels would serve a request now, in which order, and why others would not; sends nothing.

import { lanesOf } from '../config/channel-keys.ts'
import type { ChannelConfig } from '../config/types.ts'
import { anyoneOf, dialectsOf } from '../operations/model-access.ts'
import { buildModelAccess, catalogOf } from '../operations/offering.ts'
import { plan } from '../router/plan.ts'
import { type Block, type Candidate, type Condition, laneOf } from '../router/route.ts'
import type { Offer } from './offer.ts'
import type { Input } from './schema.ts'
import { AdminError } from './use-case.ts'

interface PlannedChannel {
  readonly channel: string
  /** The name of the channel's key; null: it has no list of keys. */
  readonly key: string | null
  /** The vendor's own name of the model. */
  readonly model: string
  readonly dialect: string
  /** Whether the request would take the identity path. */
  readonly identity: boolean
  readonly priority: number
  readonly weight: number
}

interface LeftOutChannel {
  readonly channel: string
  readonly key: string | null
  readonly reason: string
}

interface RoutingPreview {
  readonly model: string
  readonly group: string
  /** The client format assumed here: requests in other formats may be translated for other channels. */
  readonly dialect: string | null
  /** In planned order. Among equal priorities one is drawn by weight for each request; here the heavier comes first. */
  readonly channels: readonly PlannedChannel[]
  readonly leftOut: readonly LeftOutChannel[]
}

/** From this process's view of its channels. Throws AdminError `invalid` for an unknown group. */
export function previewRouting(
  { config, book, modelAccess }: Offer,
  channels: readonly ChannelConfig[],
  condition: (lane: string, model?: string) => Condition,
  { model, group }: Input<'previewRouting'>,
): RoutingPreview {
  if (config.groups[group] === undefined) {
    throw new AdminError('invalid', 'group', `there is no group ${JSON.stringify(group)}`)
  }
  const anyone = anyoneOf(group)
  const found = modelAccess.model(anyone, model)
  const dialect = found === null ? undefined : dialectsOf(found.kind)[0]
  const candidates =
    found === null || dialect === undefined
      ? []
      : modelAccess.find(anyone, model, { id: dialect, operation: found.kind }).candidates
  const blockOf = (lane: string, own: string): Block | null => {
    const { reason } = condition(lane, own)
    return reason === 'failing' ? null : reason
  }
  const health = {
    usable: (lane: string, own: string) => blockOf(lane, own) === null,
    blocked: blockOf,
    waitMs: () => 0,
  }
  // 0.5 stands for the random number, so that the heavier of equals comes first.
  const { attempts } = plan(candidates, health, 0, () => 0.5, { maxAttempts: candidates.length })
  const keys = new Map(
    channels.flatMap((channel) => lanesOf(channel).map(({ lane, name }) => [lane, name] as const)),
  )
  const keyOf = (candidate: Candidate) => keys.get(laneOf(candidate)) ?? null
  const tried = new Set(attempts)
  const blocked = candidates.filter((candidate) => !tried.has(candidate))
  const serving = new Set(candidates.map(({ channelId }) => channelId))
  const absent = channels.filter(({ id }) => !serving.has(id))
  const catalog = catalogOf(config, channels)
  const { [group]: own } = config.groups
  const alone = { ...config, groups: own === undefined ? {} : { [group]: own } }
  return {
    model,
    group,
    dialect: dialect ?? null,
    channels: attempts.map((candidate) => {
      const { channelId: channel, model: own, identity, priority, weight } = candidate
      const spoken = candidate.dialect
      const key = keyOf(candidate)
      return { channel, key, model: own, dialect: spoken, identity, priority, weight }
    }),
    leftOut: [
      ...blocked.map((candidate) => ({
        channel: candidate.channelId,
        key: keyOf(candidate),
        reason: blockText[blockOf(laneOf(candidate), candidate.model) ?? 'breaker'],
      })),
      ...absent.map((channel) => {
        const asked = [{ ...channel, disabled: false }]
        const whyNot = () =>
          buildModelAccess(alone, asked, () => book, catalog).whyNot(anyone, model)
        const reason = stateText(channel, group) ?? whyNot()
        return { channel: channel.id, key: null, reason: reason ?? 'speaks no format that fits' }
      }),
    ],
  }
}

const blockText: Readonly<Record<Block, string>> = {
  breaker: 'failed too often lately',
  rate_limited: 'its vendor limits its rate',
  quota: 'has no credit at its vendor',
  credentials: 'its vendor refuses its key',
  busy: 'has as much under way as it may',
}

function stateText(channel: ChannelConfig, group: string): string | null {
  if (channel.disabled) return channel.state === 'draining' ? 'is draining' : 'is disabled'
  if (lanesOf(channel).length === 0) return 'has no key in use'
  const { groups } = channel
  return groups === null || groups.includes(group) ? null : 'does not serve the group'
}
