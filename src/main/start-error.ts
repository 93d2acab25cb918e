// What stops a start, in words for the operator.

/** Its message is printed as it is, and the process ends with this code: 2 where the command line is wrong. */
export class StartError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
