// A failure that stops the start, with a message for the operator.

/** The message is printed as it is, and the process exits with this code: 2 for a wrong command line. */
export class StartError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
