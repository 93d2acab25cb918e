// Formats that only vendors speak: their clients are refused wherever they could come from.

import { expect, test } from 'bun:test'
import { GatewayError } from '../errors.ts'
import { dialects } from './dialects.ts'

test.each(['cohere-v2', 'bedrock-converse'] as const)('clients of %s are not served', (id) => {
  const { hub, peek, watcher, refuse, operation } = dialects[id]
  expect(operation).toBe('chat')
  const asks: readonly (() => unknown)[] = [
    () => peek(new Uint8Array()),
    () => watcher({ wantsUsage: false, quirks: {} }),
    () => hub?.decodeRequest({}),
    () => hub?.writer({ id: '', model: '', createdAt: 0, wantsUsage: false }),
    () => hub?.writeWhole([], { id: '', model: '', createdAt: 0, wantsUsage: false }),
  ]
  for (const ask of asks) expect(ask).toThrow(GatewayError)
  const refusal = new GatewayError('unsupported_endpoint', 'no')
  expect(JSON.parse(refuse(refusal, 'req'))).toMatchObject({ message: 'no' })
})
