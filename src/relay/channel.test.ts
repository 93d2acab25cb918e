// Tests which address of a vendor a channel asks below the base address that its operator wrote.

import { expect, test } from 'bun:test'
import { vendors } from '../vendors/registry.ts'
import type { VendorDialectId } from '../wire/formats.ts'
import { createChannel } from './channel.ts'

function asked(id: string, baseUrl: string | null, dialect: VendorDialectId): string {
  const vendor = vendors[id]
  if (vendor === undefined) throw new Error(id)
  const config = { models: null, groups: null, priority: 0, weight: 1, disabled: false } as const
  const channel = createChannel(
    {
      ...{ ...config, dialect: null, timeouts: {}, options: {}, origin: 'file', id: 'c' },
      ...{ vendor: id, baseUrl, key: 'k' },
    },
    vendor,
  )
  return channel.address({ dialect, model: 'm', stream: false })
}

const messages = 'anthropic-messages'

test.each([
  ['anthropic', null, messages, 'https://api.anthropic.com/v1/messages'],
  ['anthropic', 'https://api.anthropic.com', messages, 'https://api.anthropic.com/v1/messages'],
  ['anthropic', 'https://api.anthropic.com/v1/', messages, 'https://api.anthropic.com/v1/messages'],
  ['anthropic', 'https://h/v1/g/anthropic', messages, 'https://h/v1/g/anthropic/v1/messages'],
  ['google', 'https://h', 'gemini', 'https://h/v1beta/models/m:generateContent'],
  ['google', 'https://h/v1alpha', 'gemini', 'https://h/v1alpha/models/m:generateContent'],
  ['openai', 'https://h', 'openai-chat', 'https://h/chat/completions'],
  ['deepseek', null, 'openai-chat', 'https://api.deepseek.com/chat/completions'],
] as const)('%s at %s, in %s', (vendor, baseUrl, dialect, address) => {
  expect(asked(vendor, baseUrl, dialect)).toBe(address)
})
