// Reads a form off the client's connection as it comes: no faster than the disk takes it, and none of it held.

import { GatewayError, invalidRequest } from '../../../errors.ts'
import type { ClientRequest } from '../../../operations/operation.ts'
import type { Deadlines, Timed } from '../../../relay/deadlines.ts'
import { messageEnded } from '../read.ts'
import { type Form, type FormOptions, FormSorter } from './form.ts'
import { MultipartParser } from './multipart.ts'

interface FormBounds {
  /** Of the whole form. */
  readonly maxBytes: number
  /** `progressBytes` more must have come within this. */
  readonly progressMs: number
}

/** What counts as progress: a byte now and then would hold the request's place for ever. */
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
 * The form, its files in `options.spool`. Rejects with GatewayError: what is wrong with it, `request_too_large`, or
 * `request_timeout` when it dawdles. After that nothing more is read or written.
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

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  parser: MultipartParser,
  bounds: FormBounds,
  deadlines: Deadlines,
): Promise<void> {
  let isLate = false
  const timer = new ProgressTimer(bounds.progressMs, () => {
    isLate = true
    // Whoever waits for more is told that there is none.
    void cancel(reader)
  })
  deadlines.add(timer)
  let totalBytes = 0
  try {
    for (;;) {
      const { done, value } = await next(reader)
      if (isLate) throw new GatewayError('request_timeout', 'The form did not arrive in time.')
      if (done) return
      totalBytes += value.length
      timer.came(totalBytes)
      if (totalBytes > bounds.maxBytes) throw formTooLarge(bounds.maxBytes)
      parser.push(value)
    }
  } catch (error) {
    void cancel(reader)
    throw error
  } finally {
    deadlines.delete(timer)
  }
}

/** Not to be waited for: it may not come to an end before the client does. */
function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  return reader.cancel().catch(() => undefined)
}

/** A body that broke off is the client's doing: whatever is answered, nobody is there to read it. */
function next(reader: ReadableStreamDefaultReader<Uint8Array>) {
  return reader.read().catch(() => {
    throw invalidRequest('The request body broke off before its end.', null)
  })
}

function formTooLarge(maxBytes: number): GatewayError {
  return new GatewayError('request_too_large', `The form is larger than ${maxBytes} bytes.`)
}
