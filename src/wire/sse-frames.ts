// Yields the data of server-sent events one frame at a time.

import { isObject, parsedObject } from './json/value.ts'
import { saidIn } from './openai/fault.ts'
import { FrameError, type FrameKind, type FrameSource, frameKind } from './reply.ts'
import { FrameSplitter, frameData, frameTooLong, unframedJson } from './sse.ts'

/** OpenAI's end-of-stream marker; some vendors also send it in formats that have none, whose clients cannot read it. */
export const doneData = '[DONE]'

/** How a frame without data is classed: comments are relayed; empty events, whose data clients parse, are not. */
export function emptyKind(bytes: Uint8Array, start: number, end: number): FrameKind {
  const { data, event } = frameData(bytes, start, end)
  return data === null && event === null ? frameKind.lifecycle : frameKind.empty
}

export class SseFrames implements FrameSource {
  done = false
  private readonly splitter: FrameSplitter

  /** `maxFrameBytes`: 8 MiB unless given. */
  constructor(maxFrameBytes?: number) {
    this.splitter = new FrameSplitter(maxFrameBytes)
  }

  push(chunk: Uint8Array): readonly string[] {
    const count = this.splitter.push(chunk)
    if (count === frameTooLong) throw new FrameError('an event of the stream is too long')
    return this.take(count)
  }

  end(): readonly string[] {
    return this.take(this.splitter.end())
  }

  private take(count: number): readonly string[] {
    const { bytes, starts, ends } = this.splitter
    const found: string[] = []
    for (let at = 0; at < count && !this.done; at++) {
      const data = this.dataOf(bytes, starts[at] ?? 0, ends[at] ?? 0)
      if (data !== '') found.push(data)
    }
    return found
  }

  /** The data of one frame; empty where it carries none. Sets `done` if it ends the stream. */
  protected dataOf(bytes: Uint8Array, start: number, end: number): string {
    const { data: given, event } = frameData(bytes, start, end)
    const data = given ?? unframedJson(bytes, start, end)
    const said = data.trim()
    if (said === doneData) this.done = true
    if (said === doneData || said === '') return ''
    return event === 'error' ? errorData(data) : data
  }
}

/**
 * Readers see no event's name: data that does not contain an object `error` is put under one, with the type by which
 * readers know events that have types, and with its message where all of them look for it.
 */
function errorData(data: string): string {
  const value = parsedObject(data) ?? { message: data }
  if (isObject(value['error'])) return data
  const { type, ...rest } = value
  const { message } = saidIn(value)
  const error = { ...(type === 'error' ? rest : value), ...(message !== '' && { message }) }
  return JSON.stringify({ type: 'error', error })
}
