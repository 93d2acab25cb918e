// Who sent a request, as far as the request tells: part of its record.

export interface Caller {
  /** The address it came from; null where the connection was gone already. */
  readonly address: string | null
  /** What the client calls the request. */
  readonly requestId: string | null
  /** As it came (W3C Trace Context), well formed. */
  readonly traceparent: string | null
}

/** Of the record: the trace that the request is part of. */
export function traceIdOf({ traceparent }: Caller): string | null {
  return traceparent === null ? null : traceparent.slice(3, 35)
}
