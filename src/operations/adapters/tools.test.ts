// Tests the tools of adapters: the files that a client names are bounded together.

import { expect, test } from 'bun:test'
import { payload } from '../../../test/support/media-tools.ts'
import type { From, Results } from '../../blobs/results.ts'
import type { Channel } from '../../relay/channel.ts'
import type { RelayRooms } from '../../relay/request.ts'
import { NotFetched } from '../../safe-fetch/safe-fetch.ts'
import type { Spool } from '../../vendors/media.ts'
import { dialects } from '../../wire/dialects.ts'
import { MediaWork } from './tools.ts'

const spool: Spool = {
  keeper: () => ({ push: () => undefined, end: () => payload(Buffer.alloc(0)) }),
  inMemory: payload,
  close: () => undefined,
}

function toolsWith(fetchInto: Results['fetchInto']): MediaWork {
  const nobody = () => Promise.reject(new Error('not asked for'))
  const rooms: Partial<RelayRooms> = { results: { host: nobody, judge: nobody, fetchInto } }
  const channel: Partial<Channel> = { baseUrl: 'https://vendor.example/v1' }
  return new MediaWork({
    rooms: rooms as RelayRooms,
    request: { media: { isForm: false, uploads: [], spool } },
    channel: channel as Channel,
    dialect: dialects['openai-images'],
    connectMs: 1_000,
    sendIdleMs: 1_000,
  })
}

test('each file that a client names counts towards the bound of the next', async () => {
  const seen: (From | undefined)[] = []
  const tools = toolsWith(async (_url, _spool, from) => {
    seen.push(from)
    return payload(Buffer.alloc(300))
  })
  for (const url of ['https://a.b/1', 'https://a.b/2', 'https://a.b/3']) await tools.fetch(url)
  expect(seen.map((from) => from?.namedBytes)).toEqual([0, 300, 600])
  expect(seen.some((from) => from?.home !== undefined)).toBe(false)
})

test('why such a file cannot be had is told', async () => {
  const tools = toolsWith(() => Promise.reject(new NotFetched('it is larger than 5 bytes')))
  await expect(tools.fetch('https://a.b/1')).rejects.toMatchObject({
    fault: { kind: 'unreadable', message: 'it is larger than 5 bytes' },
  })
})
