// For tests: makes one call to the sandbox and collects everything it returns.

import type { JsonObject } from '../../wire/ir.ts'
import type { TransportFault } from '../transport.ts'
import { sandboxService } from './service.ts'

interface SandboxReply {
  readonly status: number | null
  readonly header: (name: string) => string | null
  readonly text: string
  readonly fault: TransportFault | null
}

const encoder = new TextEncoder()

export function call(dialect: string, body: JsonObject): Promise<SandboxReply> {
  return new Promise((resolve) => {
    const decoder = new TextDecoder()
    let status: number | null = null
    let header: SandboxReply['header'] = () => null
    let text = ''
    const end = (fault: TransportFault | null): void => resolve({ status, header, text, fault })
    sandboxService.open(
      { dialect, model: String(body.model), body: encoder.encode(JSON.stringify(body)) },
      {
        head(given, lookup) {
          status = given
          header = lookup
        },
        bytes(chunk) {
          text += decoder.decode(chunk, { stream: true })
        },
        end: () => end(null),
        fault: end,
      },
    )
  })
}

/** Messages that cost 14 tokens. */
export const say = [
  { role: 'system', content: 'Be kind.' },
  { role: 'user', content: [{ type: 'text', text: 'Hello out there' }] },
]
