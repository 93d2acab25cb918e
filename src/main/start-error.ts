// What stops a start, in words for the operator.

/** Its message is printed as it is, and the process ends with 1. */
export class StartError extends Error {}
