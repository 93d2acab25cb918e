// Reads a form from the client's connection no faster than the disk takes it, without holding it in memory.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { GatewayError, invalidRequest } from '../../../errors.ts'
import type { ClientRequest } from '../../../operations/operation.ts'
import type { Deadlines, Timed } from '../../../relay/deadlines.ts'
import { messageEnded } from '../read.ts'
import { type Form, type FormOptions, FormSorter } from './form.ts'
import { MultipartParser } from './multipart.ts'

interface FormBounds {
  /** Most bytes of the whole form. */
  readonly maxBytes: number
  /** Longest time for each `progressBytes` to arrive. */
  readonly progressMs: number
}

/** Bytes that count as progress: a single byte now and then must not hold the request's place for ever. */
const progressBytes = 65_536

class ProgressTimer implements Timed {
  slot = -1
  private deadlineMs: number
  private readonly progressMs: number
  private readonly late: () => void
  private nextBytes = progressBytes

  constructor(progressMs: number, late: () => void) {
    this.progressMs = progressMs
    this.deadlineMs = performance.now() + progressMs
    this.late = late
  }

  came(totalBytes: number): void {
    if (totalBytes < this.nextBytes) return
    this.nextBytes = totalBytes + progressBytes
    this.deadlineMs = performance.now() + this.progressMs
  }

  tick(nowMs: number): void {
    if (nowMs >= this.deadlineMs) this.late()
  }
}

/**
 * Returns the form, with its files in `options.spool`. Rejects with GatewayError: what is wrong with the form,
 * `request_too_large`, or `request_timeout` when it arrives too slowly. After that nothing more is read or written.
 */
export async function readForm(
  request: ClientRequest,
  boundary: string,
  options: FormOptions,
  bounds: FormBounds,
  deadlines: Deadlines,
): Promise<Form> {
  const sorter = new FormSorter(options)
  const parser = new MultipartParser(boundary, sorter)
  const reader = request.body?.getReader()
  if (reader !== undefined) await readAll(reader, parser, bounds, deadlines)
  if (!request.headers.has('content-length')) await messageEnded(request)
  parser.end()
  return sorter.form()
}

const piecesInTurn = 1_000

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  parser: MultipartParser,
  bounds: FormBounds,
  deadlines: Deadlines,
): Promise<void> {
  let isLate = false
  const timer = new ProgressTimer(bounds.progressMs, () => {
    isLate = true
    // Cancelling ends the read that is waiting for more bytes.
    void cancel(reader)
  })
  deadlines.add(timer)
  let totalBytes = 0
  let pieces = 0
  try {
    for (;;) {
      const { done, value } = await next(reader)
      if (isLate) throw new GatewayError('request_timeout', 'The form did not arrive in time.')
      if (done) return
      totalBytes += value.length
      timer.came(totalBytes)
      if (totalBytes > bounds.maxBytes) throw formTooLarge(bounds.maxBytes)
      parser.push(value)
      // The client chooses the size of the pieces, which come without a turn of the event loop between them.
      if (++pieces % piecesInTurn === 0) await nextTurn()
    }
  } catch (error) {
    void cancel(reader)
    throw error
  } finally {
    deadlines.delete(timer)
  }
}

/** Must not be awaited: it may not settle before the client's connection ends. */
function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  return reader.cancel().catch(() => undefined)
}

/** The client broke off the body, so nobody is left to read the reply: any refusal will do. */
function next(reader: ReadableStreamDefaultReader<Uint8Array>) {
  return reader.read().catch(() => {
    throw invalidRequest('The request body broke off before its end.', null)
  })
}

function formTooLarge(maxBytes: number): GatewayError {
  return new GatewayError('request_too_large', `The form is larger than ${maxBytes} bytes.`)
}
