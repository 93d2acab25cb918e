// Requests a JSON document of a channel's vendor, such as its model list, for an operator.

import { Buffer } from 'node:buffer'
import type { ChannelConfig } from '../config/types.ts'
import { createChannel } from '../relay/channel.ts'
import { scrub } from '../telemetry/scrub.ts'
import { createDialer, type Dialer } from '../upstream/dial.ts'
import type { Vendor } from '../vendors/vendor.ts'
import type { JsonValue } from '../wire/ir.ts'
import { join } from '../wire/json/splice.ts'
import { isObject } from '../wire/json/value.ts'

const answerMs = 30_000
const maxBytes = 33_554_432

interface Reply {
  readonly status: number
  readonly text: string
}

/** The document cannot be had; the message says why, without secrets. */
export class VendorAskError extends Error {}

/** Uses the channel's key. Throws VendorAskError where there is no good reply. */
export async function askVendor(
  config: ChannelConfig,
  vendor: Vendor,
  address: (baseUrl: string) => string,
): Promise<JsonValue> {
  const channel = createChannel(config, vendor)
  const dialer = createDialer()
  try {
    const call = { method: 'GET', url: address(channel.baseUrl), signed: true } as const
    const { status, text } = await get(dialer, channel.reach(call))
    if (status < 200 || status >= 300) throw new Error(`${status} ${messageOf(text)}`)
    return parsed(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new VendorAskError(`${config.id}: ${scrub(reason, channel.secrets)}`)
  } finally {
    dialer.close()
  }
}

function get(dialer: Dialer, destination: ReturnType<ReturnType<typeof createChannel>['reach']>) {
  return new Promise<Reply>((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let [status, length] = [0, 0]
    const call = { destination, segments: [], connectMs: 5_000, sendIdleMs: 30_000 }
    const exchange = dialer.open(call, {
      head(replyStatus) {
        status = replyStatus
      },
      bytes(chunk) {
        length += chunk.length
        if (length <= maxBytes) chunks.push(chunk)
        else fail('the reply is too long')
      },
      end() {
        clearTimeout(timer)
        resolve({ status, text: Buffer.from(join(chunks)).toString('utf8') })
      },
      fault: ({ message }) => fail(message),
    })
    const timer = setTimeout(() => fail('the vendor did not answer in time'), answerMs)
    function fail(message: string): void {
      clearTimeout(timer)
      exchange.abort()
      reject(new Error(message))
    }
  })
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}

/** The vendor's own message in a refusal, or else the beginning of its text. */
function messageOf(text: string): string {
  const body = parsed(text)
  const error = isObject(body) ? body.error : null
  const said = isObject(error) ? error.message : isObject(body) ? body.message : null
  return typeof said === 'string' ? said : text.slice(0, 200)
}
