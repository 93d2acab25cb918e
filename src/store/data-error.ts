// The error of data that cannot be used, with a message for the operator.

/** The data directory, a file in it or the database cannot be used: the message says which and why, on one line. */
export class DataError extends Error {
  override readonly name: string = 'DataError'
  /** Error code of the system or SQLite; '' if there is none. */
  readonly code: string

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = codeOf(options?.cause)
  }
}

/** Error code of the system or SQLite; '' if there is none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
