// Writes AWS's binary event streams by their specification, with checksums calculated by the runtime.

import { crc32 } from 'node:zlib'

const stringType = 7

function header(name: string, value: string): Buffer {
  const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)]
  const length = Buffer.alloc(2)
  length.writeUInt16BE(valueBytes.length)
  return Buffer.concat([
    Buffer.from([nameBytes.length]),
    nameBytes,
    Buffer.from([stringType]),
    length,
    valueBytes,
  ])
}

/** One message with complete headers. */
export function rawMessage(headers: Uint8Array, payload: Uint8Array): Buffer {
  const message = Buffer.alloc(16 + headers.length + payload.length)
  message.writeUInt32BE(message.length, 0)
  message.writeUInt32BE(headers.length, 4)
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8)
  message.set(headers, 12)
  message.set(payload, 12 + headers.length)
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4)
  return message
}

export function message(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const written = Object.entries(headers).map(([name, value]) => header(name, value))
  return rawMessage(Buffer.concat(written), Buffer.from(payload))
}

/** An event, or an exception if its name says so. */
export function event(name: string, payload: unknown): Buffer {
  const kind = name.endsWith('Exception') ? 'exception' : 'event'
  return message(
    {
      [`:${kind}-type`]: name,
      ':content-type': 'application/json',
      ':message-type': kind,
    },
    JSON.stringify(payload),
  )
}

/** Frames such as `{"messageStop":{...}}` as a binary stream. */
export function eventStream(frames: readonly string[]): Buffer {
  return Buffer.concat(
    frames.flatMap((frame) =>
      Object.entries(JSON.parse(frame)).map(([name, payload]) => event(name, payload)),
    ),
  )
}
